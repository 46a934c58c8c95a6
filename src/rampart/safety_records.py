"""Which records of a run are safety tests."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.outcome import Outcome
from seatrial.run import Attempt, Run
from seatrial.trial import TrialRecord

__all__ = ["has_safety_tests", "safety_records"]


def has_safety_tests(run: Run) -> bool:
    """Whether the run has anything that this face should show."""
    return bool(run.groups("rampart")) or any(map(_is_safety_test, run.all_ended))


def safety_records(run: Run) -> Iterator[TrialRecord]:
    """Records that count as safety tests: ours, and others' that recorded results.

    Each is read when its turn comes.
    """
    return (attempt.record for attempt in run.all_ended if _is_safety_test(attempt))


def _is_safety_test(attempt: Attempt) -> bool:
    is_ours = attempt.face == "rampart" or attempt.has_results
    return is_ours and attempt.outcome is not Outcome.SKIPPED
