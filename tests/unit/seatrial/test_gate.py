"""The gate: tallies count every trial once, and only success can become failure."""

from __future__ import annotations

import pytest

from seatrial.gate import Tally, Verdict, exit_status
from seatrial.outcome import Outcome

GOOD, BAD = Verdict("pass", fails=False), Verdict("fail", fails=True)


def test_a_new_record_moves_a_trial_from_remaining_to_its_outcome() -> None:
    tally = Tally(configured=3, planned=3).moved(None, Outcome.ERROR)
    assert (tally.error, tally.ended, tally.remaining) == (1, 1, 2)


def test_an_amended_outcome_is_counted_once() -> None:
    tally = Tally(configured=1, planned=1, passed=1).moved(Outcome.PASSED, Outcome.ERROR)
    assert tally == Tally(configured=1, planned=1, error=1)


def test_an_unchanged_outcome_changes_no_count() -> None:
    tally = Tally(configured=2, planned=2, passed=1)
    assert tally.moved(Outcome.PASSED, Outcome.PASSED) == tally


def test_a_withdrawn_record_makes_its_trial_remain_again() -> None:
    tally = Tally(configured=1, planned=1, passed=1).moved(Outcome.PASSED, None)
    assert (tally.passed, tally.remaining) == (0, 1)


def test_skipped_trials_have_ended_but_do_not_count() -> None:
    tally = Tally(configured=2, planned=2, passed=1, skipped=1)
    assert (tally.ended, tally.counted, tally.remaining) == (2, 1, 0)


def test_closing_a_tally_makes_what_remained_lost_and_counted() -> None:
    closed = Tally(configured=5, planned=4, passed=1, skipped=1).closed()
    assert (closed.lost, closed.remaining, closed.counted) == (2, 0, 3)
    assert closed.closed() == closed


def test_more_records_than_planned_leave_nothing_to_lose() -> None:
    tally = Tally(configured=1, planned=1, passed=2)
    assert (tally.remaining, tally.closed().lost) == (0, 0)


@pytest.mark.parametrize("status", [1, 2, 3, 4, 5, 77])
@pytest.mark.parametrize("verdicts", [[], [GOOD], [GOOD, BAD]])
@pytest.mark.parametrize("incomplete", [False, True])
def test_no_status_but_success_is_ever_changed(
    status: int, verdicts: list[Verdict], incomplete: bool
) -> None:
    assert exit_status(status, verdicts, incomplete=incomplete) == status


@pytest.mark.parametrize(
    ("verdicts", "incomplete", "expected"),
    [([], False, 0), ([GOOD], False, 0), ([GOOD, BAD], False, 1), ([GOOD], True, 1)],
)
def test_a_failing_group_or_an_incomplete_run_turns_success_into_failure(
    verdicts: list[Verdict], incomplete: bool, expected: int
) -> None:
    assert exit_status(0, verdicts, incomplete=incomplete) == expected
