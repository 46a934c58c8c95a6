"""A run: what counts of several attempts, and what is missing of a group."""

from __future__ import annotations

from dataclasses import replace

import pytest

from seatrial.outcome import FailureOwner, Outcome
from seatrial.run import Attempt, PlannedTrial, Run, fold_attempts
from seatrial.trial import Failure, TrialKey, TrialRecord

PASSED, FAILED, ERROR, SKIPPED = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED


def key(index: int = 1, *, case: str = "a", face: str = "kensa", total: int = 3) -> TrialKey:
    return TrialKey(face=face, test="t.py::test_x", case=case, index=index, total=total)


def record(outcome: Outcome, *, of: TrialKey | None = None, kind: str = "assertion") -> TrialRecord:
    failure = Failure(owner=FailureOwner.UNKNOWN, kind=kind, message="why")
    of = of or key()
    return TrialRecord(
        key=of,
        nodeid=nodeid(of),
        outcome=outcome,
        failure=None if outcome is PASSED else failure,
    )


def nodeid(of: TrialKey) -> str:
    return f"{of.test}[{of.case}-{of.face}{of.index}]"


def planned(of: TrialKey) -> PlannedTrial:
    return PlannedTrial(nodeid=nodeid(of), key=of, name=nodeid(of), policy={})


def run(plan: list[TrialKey], records: list[TrialRecord]) -> Run:
    return Run(
        run_id="r",
        started_at=0.0,
        duration_s=1.0,
        planned={nodeid(of): planned(of) for of in plan},
        attempts={r.nodeid: (Attempt("", r),) for r in records},
        metadata={},
    )


@pytest.mark.parametrize(
    ("attempts", "counts"),
    [
        ([("", PASSED)], PASSED),
        ([("", ERROR), ("", PASSED)], PASSED),
        ([("", ERROR), ("", ERROR)], ERROR),
        ([("", FAILED), ("", PASSED)], FAILED),
        ([("", FAILED), ("", ERROR), ("", PASSED)], FAILED),
        ([("", ERROR), ("", FAILED), ("", PASSED)], FAILED),
        ([("gw0", PASSED), ("gw1", ERROR)], ERROR),
        ([("gw0", ERROR), ("gw1", PASSED), ("gw0", PASSED)], PASSED),
        ([("gw0", SKIPPED), ("gw1", PASSED)], PASSED),
    ],
)
def test_a_rerun_replaces_an_error_but_never_a_fail_and_copies_count_as_their_worst(
    attempts: list[tuple[str, Outcome]], counts: Outcome
) -> None:
    folded = fold_attempts(tuple(Attempt(worker, record(o)) for worker, o in attempts))
    assert folded.outcome is counts


def test_a_cancelled_trial_counts_as_one_that_never_ran() -> None:
    cancelled = record(SKIPPED, kind="cancelled")
    finished = run([key()], [cancelled])
    assert finished.ended(cancelled.nodeid) is None
    (group,) = finished.groups("kensa")
    assert group.ended == ()
    assert (group.tally.lost, group.tally.skipped) == (1, 0)


def test_a_trial_that_was_never_recorded_has_not_ended() -> None:
    assert run([key()], []).ended("elsewhere") is None


def test_groups_belong_to_one_face_and_their_trials_are_in_natural_order() -> None:
    plan = [key(2), key(1), key(1, case="b"), key(1, face="rampart")]
    groups = run(plan, []).groups("kensa")
    assert [group.key.label for group in groups] == ["t.py::test_x[a]", "t.py::test_x[b]"]
    assert [trial.key.index for trial in groups[0].planned] == [1, 2]


def test_a_groups_tally_counts_what_never_ran_as_lost() -> None:
    plan = [key(1), key(2)]
    (group,) = run(plan, [record(FAILED, of=key(2))]).groups("kensa")
    tally = group.tally
    assert (tally.configured, tally.planned, tally.failed, tally.lost) == (3, 2, 1, 1)
    assert [record.key.index for record in group.records] == [2]


def test_records_come_in_the_order_of_collection_whatever_order_they_arrived_in() -> None:
    early, plain, late = (
        replace(record(PASSED, of=key(index)), position=index) for index in (1, 2, 3)
    )
    finished = run([key(1), key(3)], [late, plain, early])
    assert tuple(finished.records) == (early, plain, late)


def test_a_groups_label_is_the_test_alone_without_parameters() -> None:
    (group,) = run([key(case="")], []).groups("kensa")
    assert group.key.label == "t.py::test_x"
