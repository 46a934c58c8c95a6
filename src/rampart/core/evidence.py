"""What an execution has seen so far, kept outside of it so that nothing is lost when it breaks."""

from __future__ import annotations

import copy
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Any, cast

from rampart.core.result import InjectionRecord
from rampart.core.types import Turn
from seatrial.snapshot import snapshot

__all__ = ["Evidence", "collect", "current_evidence", "stop_collecting"]


@dataclass(slots=True, eq=False)
class Evidence:
    """What one execution has seen so far.

    Attributes:
        turns: Finished turns; the last one may lack its evaluation.
        injections: Payloads that were put in place.
        notes: Remarks for the result.
    """

    turns: list[Turn] = field(default_factory=list)
    injections: list[InjectionRecord] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether nothing has happened yet."""
        return not (self.turns or self.injections or self.notes)

    def response_metadata(self) -> dict[str, Any]:
        """A copy of what the responses carried.

        With one response that carries metadata, that; with more, one `turn_<n>` for each.
        """
        carried = {
            f"turn_{turn.turn_number}": _copy(turn.response.metadata)
            for turn in self.turns
            if turn.response.metadata
        }
        return next(iter(carried.values())) if len(carried) == 1 else dict(carried)


def _copy(metadata: dict[str, Any]) -> dict[str, Any]:
    try:
        return copy.deepcopy(metadata)
    except Exception:  # noqa: BLE001 - foreign code: what cannot be copied is kept as its JSON image
        return cast("dict[str, Any]", snapshot(metadata))


_evidence: ContextVar[Evidence | None] = ContextVar("rampart_evidence", default=None)


def current_evidence() -> Evidence:
    """The evidence of the execution that is calling; a fresh one outside of any."""
    evidence = _evidence.get()
    return Evidence() if evidence is None else evidence


def collect(evidence: Evidence) -> Token[Evidence | None]:
    """Make `evidence` the current one, until `stop_collecting` gets the token back."""
    return _evidence.set(evidence)


def stop_collecting(token: Token[Evidence | None]) -> None:
    """Undo one `collect`."""
    _evidence.reset(token)
