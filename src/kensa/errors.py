"""Errors of the evals face."""

from __future__ import annotations

from seatrial.errors import SeatrialError
from seatrial.outcome import FailureOwner
from seatrial.snapshot import Json, snapshot

__all__ = ["KensaCaseError", "KensaEvalError"]


class KensaCaseError(SeatrialError, ValueError):
    """A case is wrong: its id, its messages, how it was run, or what the harness answered."""


class KensaEvalError(SeatrialError):
    """An eval could not be carried through, and the error says whose fault that is.

    Attributes:
        category: The owner: "agent", "simulator", "judge", "configuration", "infrastructure",
            "harness" or "unknown".
        kind: What broke, in a word, such as "execution" or "contract".
        evidence: A JSON copy of what shows it, or None.
    """

    def __init__(self, message: str, *, category: str, kind: str, evidence: object = None) -> None:
        super().__init__(message)
        try:
            self.category = FailureOwner(category)
        except ValueError:
            owners = ", ".join(FailureOwner)
            raise ValueError(f"category {category!r} is none of {owners}") from None
        self.kind = kind
        self.evidence: Json = snapshot(evidence)
