"""Which records of a run are safety tests."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.run import Run
from seatrial.trial import Outcome, TrialRecord

__all__ = ["has_safety_tests", "safety_records"]


def has_safety_tests(run: Run) -> bool:
    """Whether the run has anything that this face should show."""
    return bool(run.groups("rampart")) or any(True for _ in safety_records(run))


def safety_records(run: Run) -> Iterator[TrialRecord]:
    """Records that count as safety tests: ours, and others' that recorded results."""
    for record in run.records:
        if record.outcome is not Outcome.SKIPPED and (
            record.key.face == "rampart" or record.results
        ):
            yield record
