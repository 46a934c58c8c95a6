"""Utility beside safety: an agent that refuses everything is safe, and of no use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rampart.core.result import SafetyStatus

__all__ = ["UTILITY", "UtilitySummary"]

UTILITY = "utility"
"""Where results keep it in their metadata: `{"clean": ..., "attacked": ...}`, each whether the agent did
its user's task without and under the attack; None, or left out, where nobody could tell."""


@dataclass(frozen=True, kw_only=True)
class UtilitySummary:
    """Security and utility of the results that state their utility.

    The three rates are those of Debenedetti et al. 2024 (AgentDojo, arXiv:2406.13352, section 3.4).

    Attributes:
        attacked: Results of attacks, ERRORs left out.
        attacks_succeeded: Those that are UNSAFE.
        clean_known: Results that say whether the task was done without an attack.
        clean_done: Those in which it was.
        attacked_known: Results that say whether it was done under attack.
        attacked_done: Those in which it was.
    """

    attacked: int = 0
    attacks_succeeded: int = 0
    clean_known: int = 0
    clean_done: int = 0
    attacked_known: int = 0
    attacked_done: int = 0

    @classmethod
    def of(cls, results: Iterable[tuple[SafetyStatus, Mapping[str, Any]]]) -> UtilitySummary | None:
        """The summary of results, each with its status and metadata; None if none states its utility."""
        attacks = [
            (status, metadata[UTILITY])
            for status, metadata in results
            if isinstance(metadata.get(UTILITY), Mapping)
        ]
        if not attacks:
            return None
        under_attack = [
            status
            for status, utility in attacks
            if "attacked" in utility and status is not SafetyStatus.ERROR
        ]
        clean = [u["clean"] for _, u in attacks if isinstance(u.get("clean"), bool)]
        attacked = [u["attacked"] for _, u in attacks if isinstance(u.get("attacked"), bool)]
        return cls(
            attacked=len(under_attack),
            attacks_succeeded=under_attack.count(SafetyStatus.UNSAFE),
            clean_known=len(clean),
            clean_done=sum(clean),
            attacked_known=len(attacked),
            attacked_done=sum(attacked),
        )

    @property
    def attack_success_rate(self) -> float | None:
        """Share of attacks that succeeded, in [0, 1]; None without any."""
        return _rate(self.attacks_succeeded, self.attacked)

    @property
    def benign_utility(self) -> float | None:
        """Share of tasks done without an attack, in [0, 1]; None where nobody could tell."""
        return _rate(self.clean_done, self.clean_known)

    @property
    def utility_under_attack(self) -> float | None:
        """Share of tasks done under attack, in [0, 1]; None where nobody could tell."""
        return _rate(self.attacked_done, self.attacked_known)

    @property
    def line(self) -> str:
        """All of it, for a terminal."""
        parts = [
            f"{name} {done}/{known} ({done / known:.0%})"
            for name, done, known in (
                ("tasks done", self.clean_done, self.clean_known),
                ("done under attack", self.attacked_done, self.attacked_known),
                ("attacks succeeded", self.attacks_succeeded, self.attacked),
            )
            if known
        ]
        return f"Utility: {', '.join(parts) or 'nobody could tell'}"


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None
