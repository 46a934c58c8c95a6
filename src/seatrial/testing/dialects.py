"""Which protocol a request speaks: its path says so."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping

from seatrial.snapshot import JsonObject
from seatrial.testing import anthropic_messages, openai_chat, openai_responses
from seatrial.testing.answer import Answer
from seatrial.testing.question import Protocol, Question, ReceivedRequest

__all__ = ["MODEL", "Dialect", "dialect_of", "error_in", "models_in"]

MODEL = "scripted"
"""The model that the server lists; it answers for any."""


class Dialect(typing.Protocol):
    """The words of one protocol."""

    def read(self, body: JsonObject, path: str, /) -> Question: ...
    def document(self, answer: Answer, request: ReceivedRequest, /) -> JsonObject: ...
    def events(self, answer: Answer, request: ReceivedRequest, /) -> Iterator[bytes]: ...
    def error(self, status: int, message: str, /) -> JsonObject: ...


_DIALECTS: dict[Protocol, Dialect] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic_messages,
}
_PATHS: dict[str, Protocol] = {
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "/messages": "anthropic",
}


def dialect_of(path: str) -> tuple[Protocol, Dialect] | None:
    """The protocol that is spoken at `path`, which is without its query; None if none is."""
    for ending, protocol in _PATHS.items():
        if path.endswith(ending):
            return protocol, _DIALECTS[protocol]
    return None


def error_in(headers: Mapping[str, str], status: int, message: str) -> JsonObject:
    """An error for whoever sent `headers`, where the path does not tell the protocol."""
    protocol: Protocol = "anthropic" if _is_anthropic(headers) else "openai-chat"
    return _DIALECTS[protocol].error(status, message)


def models_in(headers: Mapping[str, str]) -> JsonObject:
    """The list of models for whoever sent `headers`."""
    if _is_anthropic(headers):
        model: JsonObject = {
            "type": "model",
            "id": MODEL,
            "display_name": MODEL,
            "created_at": "2025-01-01T00:00:00Z",
        }
        return {"data": [model], "has_more": False, "first_id": MODEL, "last_id": MODEL}
    listed: JsonObject = {"id": MODEL, "object": "model", "created": 0, "owned_by": "seatrial"}
    return {"object": "list", "data": [listed]}


def _is_anthropic(headers: Mapping[str, str]) -> bool:
    return "anthropic-version" in headers
