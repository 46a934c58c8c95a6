"""What a scripted model can answer, and how it gets over the wire."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from seatrial.errors import UsageError
from seatrial.snapshot import JsonObject, strict_json

__all__ = [
    "AnyReply",
    "Completion",
    "ErrorReply",
    "RawReply",
    "RefusalReply",
    "Reply",
    "StructuredReply",
    "TextReply",
    "ToolCall",
    "ToolCallReply",
    "as_reply",
]

_LONGEST_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What all replies share: the way over the wire.

    Attributes:
        delay_s: Seconds before anything is sent, from 0 to 3600.
        pause_s: Seconds before each piece of the body, from 0 to 3600. The pieces of a streamed
            answer are its events, those of any other eight equal parts.
        cut: Where the connection breaks off: before the response's head, or half-way through its
            body.
        content_type: Sent instead of the right one.
        padding_bytes: Makes the body larger by so many bytes that mean nothing to its reader
            (white space, or comments in a stream); they are not held in memory.
    """

    delay_s: float = 0.0
    pause_s: float = 0.0
    cut: Literal["head", "body"] | None = None
    content_type: str | None = None
    padding_bytes: int = 0

    def __post_init__(self) -> None:
        for name, value in (("delay_s", self.delay_s), ("pause_s", self.pause_s)):
            if not 0 <= value <= _LONGEST_S:
                raise UsageError(f"{name}={value!r}: expected seconds from 0 to {_LONGEST_S:g}")
        if self.cut not in (None, "head", "body"):
            raise UsageError(f"cut={self.cut!r}: expected 'head' or 'body'")
        if self.padding_bytes < 0:
            raise UsageError(f"padding_bytes={self.padding_bytes!r}: expected 0 or more")
        if self.content_type is not None and not _is_header_text(self.content_type):
            raise UsageError(f"content_type={self.content_type!r}: expected one printable line")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion(Reply):
    """A reply in which the model itself speaks.

    Attributes:
        input_tokens: What the answer claims to have read; a fixed number, so that costs can be
            asserted.
        output_tokens: What the answer claims to have written.
    """

    input_tokens: int = 12
    output_tokens: int = 3


@dataclass(frozen=True, slots=True)
class TextReply(Completion):
    """An answer in words. A plain `str` in a script is the same."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asks for. Alone in a script it is the whole answer.

    Attributes:
        arguments: Text is sent as it stands, so that it can be broken JSON.
    """

    name: str
    arguments: JsonObject | str

    def __post_init__(self) -> None:
        _keep_json(self, "arguments", f"the arguments of the tool call {self.name!r}")


@dataclass(frozen=True, slots=True)
class ToolCallReply(Completion):
    """An answer that calls one tool or several, after `text` if there is any."""

    calls: tuple[ToolCall, ...]
    text: str = ""

    def __post_init__(self) -> None:
        Reply.__post_init__(self)
        object.__setattr__(self, "calls", tuple(self.calls))
        if not self.calls:
            raise UsageError("a ToolCallReply without calls: expected at least one")


@dataclass(frozen=True, slots=True)
class StructuredReply(Completion):
    """An answer in the form that the request asked for.

    If the request leaves no way but to call one of its tools, this calls the one that takes such
    data, or else the last of them. In all other cases the answer is the data as JSON text.

    Attributes:
        data: Text is sent as it stands, so that it can be broken JSON.
    """

    data: JsonObject | str

    def __post_init__(self) -> None:
        Reply.__post_init__(self)
        _keep_json(self, "data", "the data of a StructuredReply")


@dataclass(frozen=True, slots=True)
class RefusalReply(Completion):
    """The model declines, in the way its protocol has for that."""

    text: str = "I cannot help with that."


@dataclass(frozen=True, slots=True)
class ErrorReply(Reply):
    """An error status, with the body that the provider would send.

    Attributes:
        status: From 400 to 599.
        message: What the provider says; without it, the status in words.
        retry_after: The header `Retry-After`: seconds, or a moment (with its time zone).
    """

    status: int
    message: str = ""
    retry_after: float | datetime | None = None

    def __post_init__(self) -> None:
        Reply.__post_init__(self)
        if not 400 <= self.status <= 599:
            raise UsageError(f"status={self.status!r}: expected an error, from 400 to 599")
        if isinstance(self.retry_after, datetime):
            if self.retry_after.tzinfo is None:
                raise UsageError(f"retry_after={self.retry_after!r}: expected a time zone")
        elif self.retry_after is not None and not math.isfinite(self.retry_after):
            raise UsageError(f"retry_after={self.retry_after!r}: expected seconds")


@dataclass(frozen=True, slots=True)
class RawReply(Reply):
    """These bytes and nothing else, as JSON unless `content_type` says otherwise.

    Attributes:
        status: From 200 to 599.
    """

    body: bytes
    status: int = 200

    def __post_init__(self) -> None:
        Reply.__post_init__(self)
        if not 200 <= self.status <= 599:
            raise UsageError(f"status={self.status!r}: expected a status from 200 to 599")


AnyReply: TypeAlias = Reply | ToolCall | str
"""What a script may hold: a reply, a bare tool call, or text."""


def as_reply(value: object) -> Reply:
    """The reply that a script's entry stands for.

    Raises:
        UsageError: If it is none.
    """
    if isinstance(value, str):
        return TextReply(value)
    if isinstance(value, ToolCall):
        return ToolCallReply((value,))
    if isinstance(value, Reply):
        return value
    raise UsageError(
        f"a {type(value).__name__} in the place of a reply: expected a str, a ToolCall or a Reply"
    )


def _keep_json(owner: object, name: str, what: str) -> None:
    value = getattr(owner, name)
    if isinstance(value, str):
        return
    if not isinstance(value, dict):
        raise UsageError(f"{what}: expected a dict or text, not a {type(value).__name__}")
    object.__setattr__(owner, name, strict_json(value, what=what))


def _is_header_text(text: str) -> bool:
    return text.isascii() and text.isprintable()
