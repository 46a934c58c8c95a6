"""Folding: of several attempts, a proven wrong always counts."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from seatrial.outcome import FailureOwner, Outcome, worst
from seatrial.run import Attempt, fold_attempts
from seatrial.trial import Amendment, Failure, TrialKey, TrialRecord

KEY = TrialKey(face="kensa", test="t", case="", index=1, total=1)
WHY = Failure(owner=FailureOwner.UNKNOWN, kind="exception", message="why")

outcomes = st.sampled_from(Outcome)
attempts = st.lists(
    st.tuples(st.sampled_from(["", "gw0", "gw1"]), outcomes), min_size=1, max_size=6
)


def record(outcome: Outcome, attempt: int = 1) -> TrialRecord:
    return TrialRecord(key=KEY, nodeid="t", outcome=outcome, failure=WHY, attempt=attempt)


def folded(listed: Sequence[tuple[str, Outcome]]) -> Outcome:
    return fold_attempts(tuple(Attempt(worker, record(o)) for worker, o in listed)).outcome


@given(listed=attempts)
def test_a_fail_is_never_run_away(listed: list[tuple[str, Outcome]]) -> None:
    has_failed = any(outcome is Outcome.FAILED for _, outcome in listed)
    assert (folded(listed) is Outcome.FAILED) == has_failed


@given(listed=attempts)
def test_without_a_fail_the_last_attempt_of_each_worker_counts(
    listed: list[tuple[str, Outcome]],
) -> None:
    calm = [(w, Outcome.ERROR if o is Outcome.FAILED else o) for w, o in listed]
    assert folded(calm) is worst(dict(calm).values())


@given(listed=attempts)
def test_workers_may_report_in_any_order(listed: list[tuple[str, Outcome]]) -> None:
    by_worker = sorted(listed, key=lambda attempt: attempt[0])
    assert folded(by_worker) is folded(listed)


@given(outcome=outcomes, torn_down=outcomes, has_failure=st.booleans())
def test_a_tear_down_can_only_worsen_a_record_and_loses_nothing(
    outcome: Outcome, torn_down: Outcome, has_failure: bool
) -> None:
    late = Failure(owner=FailureOwner.HARNESS, kind="teardown", message="late")
    amendment = Amendment(
        nodeid="t", outcome=torn_down, failure=late if has_failure else None, results=({"n": 1},)
    )
    amended = record(outcome).amended(amendment)
    assert amended.outcome is worst([outcome, torn_down])
    assert amended.results == ({"n": 1},)
    told = f"{amended.failure} {amended.notes}"
    assert "why" in told
    assert ("late" in told) == has_failure


@given(outcome=outcomes, torn_down=outcomes)
def test_the_failure_that_decides_leads(outcome: Outcome, torn_down: Outcome) -> None:
    late = Failure(owner=FailureOwner.AGENT, kind="result", message="late")
    amended = record(outcome).amended(Amendment(nodeid="t", outcome=torn_down, failure=late))
    assert (amended.failure == late) == (amended.outcome is not outcome)
