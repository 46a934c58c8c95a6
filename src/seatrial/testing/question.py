"""What a request asked, whichever protocol it came in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from seatrial.snapshot import Json, JsonObject

__all__ = ["Message", "OfferedTool", "Protocol", "Question", "ReceivedRequest"]

Protocol: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation, as plain text.

    Attributes:
        role: "user" or "assistant" as sent, and "tool" for the result of a tool.
        text: Parts that are not text stand as their type in brackets, "[image_url]"; calls of
            tools as "search({...})".
    """

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the model may call; `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What all three protocols ask in their own words.

    Attributes:
        messages: The conversation in order, without the system's part.
        system: All system and developer instructions, parted by empty lines.
        forced_tools: Those of `tools` of which the answer must call one; empty if it need not.
        output_schema: The JSON schema that the answer's text must fit, where one was asked for.
        streamed: The answer was asked for as a stream of events.
    """

    model: str
    messages: tuple[Message, ...]
    system: str
    tools: tuple[OfferedTool, ...]
    forced_tools: tuple[OfferedTool, ...]
    output_schema: JsonObject | None
    streamed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedRequest(Question):
    """One request, as it arrived.

    Attributes:
        number: Which request of this server it is, from 1, in order of arrival.
        path: With its query.
        headers: Names in lower case. Not part of the repr: keys are in them.
        body: What the request's JSON said, whole.
        started_s: When it had arrived, on the clock of `time.monotonic`.
    """

    number: int
    protocol: Protocol
    path: str
    headers: dict[str, str] = field(repr=False)
    body: dict[str, Json] = field(repr=False)
    started_s: float
