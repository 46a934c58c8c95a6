"""Conversations as parts of the JSON documents that are shown to models that judge or continue them.

Whatever was said stands there as a quoted string, so no text can pose as a turn, as a verdict, or
as the end of the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rampart.core.manifest import AppManifest
from rampart.core.types import Turn
from seatrial.snapshot import Json, JsonObject, snapshot

__all__ = ["LONGEST_TEXT", "Transcript", "manifest_document", "transcript_of"]

LONGEST_TEXT = 100_000
"""Characters of one text that are shown; of a longer one, its beginning and its end."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """Turns, ready to be part of a document.

    Attributes:
        turns: One object for each, oldest first.
        left_out: Characters of too long texts that are not in it.
    """

    turns: list[Json]
    left_out: int


def transcript_of(turns: Sequence[Turn], *, first: int = 1) -> Transcript:
    """What was asked, said, called and caused. Of attachments only id and format: their content
    may be an attack on who reads it.

    Args:
        turns: Oldest first.
        first: The number of the first of them, counted from 1.
    """
    shortened = _Shortened()
    documents: list[Json] = [
        shortened.json(_turn(turn, number)) for number, turn in enumerate(turns, first)
    ]
    return Transcript(documents, shortened.left_out)


def manifest_document(manifest: AppManifest) -> JsonObject:
    """What the agent is said to be able to do and to read."""
    return {
        "name": snapshot(manifest.name),
        "description": snapshot(manifest.description),
        "tools": [
            {
                "name": snapshot(tool.name),
                "description": snapshot(tool.description),
                "parameters": snapshot(tool.parameters),
            }
            for tool in manifest.tools
        ],
        "data_sources": [
            {
                "name": snapshot(source.name),
                "writable_by_untrusted": source.writable_by_untrusted,
            }
            for source in manifest.data_sources
        ],
    }


def _turn(turn: Turn, number: int) -> JsonObject:
    request, response = turn.request, turn.response
    parts: JsonObject = {
        "turn": number,
        "user": snapshot(request.prompt),
        "attachments": [
            {"id": snapshot(payload.id), "format": snapshot(payload.format)}
            for payload in request.attachments
        ],
        "tool_calls": [
            {
                "name": snapshot(call.name),
                "arguments": snapshot(call.arguments),
                "result": snapshot(call.result),
            }
            for call in response.tool_calls
        ],
        "side_effects": [
            {"kind": snapshot(effect.kind), "details": snapshot(effect.details)}
            for effect in response.side_effects
        ],
        "agent": snapshot(response.text),
    }
    return {name: part for name, part in parts.items() if part is not None and part != []}


class _Shortened:
    """JSON with its long texts cut; counts what that left out."""

    def __init__(self) -> None:
        self.left_out = 0

    def json(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.json(item) for item in value]
        if isinstance(value, dict):
            return {name[:LONGEST_TEXT]: self.json(item) for name, item in value.items()}
        return value

    def _text(self, text: str) -> Json:
        left_out = len(text) - LONGEST_TEXT
        if left_out <= 0:
            return text
        self.left_out += left_out
        half = LONGEST_TEXT // 2
        # An object, so that no text can claim that something is missing in it.
        return {"beginning": text[:half], "characters_left_out": left_out, "end": text[-half:]}
