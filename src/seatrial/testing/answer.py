"""What the model says to one request: replies resolved, before a protocol words them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from seatrial.snapshot import JsonObject
from seatrial.testing.question import OfferedTool, Question
from seatrial.testing.replies import (
    Completion,
    RefusalReply,
    StructuredReply,
    TextReply,
    ToolCall,
    ToolCallReply,
)

__all__ = ["Answer", "answer_to", "as_json", "fragments"]

_FRAGMENTS = 40
_SHORTEST_FRAGMENT = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is said; if `refused`, `text` is the refusal."""

    text: str
    calls: tuple[ToolCall, ...]
    refused: bool
    input_tokens: int
    output_tokens: int

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


def answer_to(question: Question, reply: Completion) -> Answer:
    """What `reply` comes to when the question is `question`."""
    text, calls = "", ()  # type: str, tuple[ToolCall, ...]
    if isinstance(reply, (TextReply, RefusalReply)):
        text = reply.text
    elif isinstance(reply, ToolCallReply):
        text, calls = reply.text, reply.calls
    elif isinstance(reply, StructuredReply):
        if question.forced_tools:
            calls = (ToolCall(_tool_for(reply.data, question.forced_tools).name, reply.data),)
        else:
            text = as_json(reply.data)
    return Answer(
        text=text,
        calls=calls,
        refused=isinstance(reply, RefusalReply),
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
    )


def as_json(value: JsonObject | str) -> str:
    """JSON of an object; text as it stands."""
    return value if isinstance(value, str) else json.dumps(value)


def fragments(text: str) -> Iterator[str]:
    """`text` in the few pieces in which a model would stream it; none if it is empty."""
    length = max(_SHORTEST_FRAGMENT, -(-len(text) // _FRAGMENTS))
    for start in range(0, len(text), length):
        yield text[start : start + length]


def _tool_for(data: JsonObject | str, tools: tuple[OfferedTool, ...]) -> OfferedTool:
    fitting = [tool for tool in tools if isinstance(data, dict) and _takes(tool, data)]
    # Frameworks list the tool that takes the final answer after those that do something.
    return (fitting or tools)[-1]


def _takes(tool: OfferedTool, data: JsonObject) -> bool:
    properties = tool.parameters.get("properties")
    required = tool.parameters.get("required")
    known = properties if isinstance(properties, dict) else {}
    needed = required if isinstance(required, list) else []
    return data.keys() <= known.keys() and all(name in data for name in needed)
