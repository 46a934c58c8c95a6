"""What a trial showed, and whose fault it is: the words that everything else is said in."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

__all__ = ["FailureOwner", "Outcome", "severity", "worst"]


class Outcome(StrEnum):
    """What one trial showed."""

    PASSED = "passed"
    FAILED = "failed"  # the agent did the wrong thing
    INCONCLUSIVE = "inconclusive"  # nobody could tell; never counted as a pass or as a fail
    ERROR = "error"  # the harness, a provider or the environment broke, not the agent
    SKIPPED = "skipped"  # not counted


severity = (
    Outcome.SKIPPED,
    Outcome.PASSED,
    Outcome.INCONCLUSIVE,
    Outcome.ERROR,
    Outcome.FAILED,
).index
"""How much an outcome matters: failed > error > inconclusive > passed > skipped."""


def worst(outcomes: Iterable[Outcome]) -> Outcome | None:
    """The outcome that matters most by `severity`, or None if there is none.

    A proven wrong stays proven, whatever broke afterwards.
    """
    return max(outcomes, key=severity, default=None)


class FailureOwner(StrEnum):
    """Whose fault it is that a trial did not pass."""

    AGENT = "agent"
    JUDGE = "judge"
    SIMULATOR = "simulator"
    CONFIGURATION = "configuration"
    INFRASTRUCTURE = "infrastructure"
    HARNESS = "harness"
    UNKNOWN = "unknown"
