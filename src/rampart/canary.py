"""Canaries: words that occur nowhere else, planted so that their way can be followed."""

from __future__ import annotations

import secrets
from dataclasses import replace

from rampart.core.types import Payload

__all__ = ["new_canary", "with_canary"]

_LETTERS = "bcdfghjkmnpqrstvwxz23456789"
_LENGTH = 14


def new_canary() -> str:
    """A word that nobody has used before: letters and digits only, so that it survives any format."""
    return "cn" + "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def with_canary(payload: Payload) -> tuple[Payload, str]:
    """A copy of a text payload with a canary at its end, and the canary.

    A payload that is a file is returned as it is: its canary is its content's first line that is
    long enough to be told apart, or nothing that could be found, as an empty text.
    """
    if payload.format.is_binary:
        lines = (line.strip() for line in payload.content.splitlines())
        return payload, next((line for line in lines if len(line) >= _LENGTH), "")
    canary = new_canary()
    return replace(payload, content=f"{payload.content}\n(ref {canary})"), canary
