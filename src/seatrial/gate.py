"""The gate: what a group's trials amount to, and the exit status that follows.

A face brings a `Policy`; this module knows only what policies look like and how their verdicts
become an exit status.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from seatrial.outcome import Outcome

__all__ = ["Policy", "Tally", "Verdict", "exit_status"]

_OK = 0
_TESTS_FAILED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How the trials of one group ended, in numbers of trials.

    Attributes:
        configured: How many trials the test asks for.
        planned: How many of them this run selected.
        lost: Planned trials that never gave a record although the run is over.
    """

    configured: int
    planned: int
    passed: int = 0
    failed: int = 0
    inconclusive: int = 0
    error: int = 0
    skipped: int = 0
    lost: int = 0

    @property
    def counted(self) -> int:
        """Trials that count towards a verdict: those that ended other than skipped, and the lost."""
        return self.passed + self.failed + self.inconclusive + self.error + self.lost

    @property
    def ended(self) -> int:
        """Trials that left a record, skipped ones included."""
        return self.passed + self.failed + self.inconclusive + self.error + self.skipped

    @property
    def remaining(self) -> int:
        """Planned trials that may still run."""
        return max(0, self.planned - self.ended - self.lost)

    def moved(self, old: Outcome | None, new: Outcome | None) -> Tally:
        """The tally after one trial's outcome became `new`; None stands for no record."""

        # Asked after every trial: `replace` takes three times as long.
        def count(before: int, outcome: Outcome) -> int:
            return before - (old is outcome) + (new is outcome)

        return Tally(
            configured=self.configured,
            planned=self.planned,
            passed=count(self.passed, Outcome.PASSED),
            failed=count(self.failed, Outcome.FAILED),
            inconclusive=count(self.inconclusive, Outcome.INCONCLUSIVE),
            error=count(self.error, Outcome.ERROR),
            skipped=count(self.skipped, Outcome.SKIPPED),
            lost=self.lost,
        )

    def closed(self) -> Tally:
        """The tally when the run is over: what remained is lost."""
        return replace(self, lost=self.lost + self.remaining)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a policy says of one group.

    Attributes:
        name: The face's own word, such as "pass" or "flaky".
        fails: Whether a group with this verdict fails the session.
    """

    name: str
    fails: bool


class Policy(Protocol):
    """Turns a tally into a verdict; one instance serves one group."""

    def verdict(self, tally: Tally) -> Verdict | None:
        """The verdict of a group that is over, or None if no trial of it counted."""
        ...

    def tolerates(self, outcome: Outcome) -> bool:
        """Whether a trial that ended so may be outweighed by the others of its group."""
        ...

    def can_pass(self, tally: Tally) -> bool:
        """Whether the group passes if every remaining trial does."""
        ...


def exit_status(pytest_status: int, verdicts: Iterable[Verdict], *, incomplete: bool) -> int:
    """The session's exit status after the gate.

    pytest's own status stands unless it is 0: the gate turns success into failure, never
    anything else into something else.
    """
    if pytest_status != _OK:
        return pytest_status
    failed = incomplete or any(verdict.fails for verdict in verdicts)
    return _TESTS_FAILED if failed else _OK
