"""Classification: the worst of how the body ended and of what was recorded."""

from __future__ import annotations

import pytest

from seatrial.classify import BodyEnd, Classification, TrialFacts, classify
from seatrial.outcome import FailureOwner, Outcome
from seatrial.trial import Failure

PASSED, FAILED, ERROR = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR
INCONCLUSIVE, SKIPPED = Outcome.INCONCLUSIVE, Outcome.SKIPPED


@pytest.mark.parametrize(
    ("end", "results", "outcome"),
    [
        # Without results, the body decides.
        (BodyEnd.RETURNED, (), PASSED),
        (BodyEnd.ASSERTION, (), FAILED),
        (BodyEnd.UNEXPECTED_PASS, (), FAILED),
        (BodyEnd.EXCEPTION, (), ERROR),
        (BodyEnd.TIMED_OUT, (), ERROR),
        (BodyEnd.SETUP_FAILED, (), ERROR),
        (BodyEnd.SKIPPED, (), SKIPPED),
        # A body that returned says nothing against the results.
        (BodyEnd.RETURNED, (PASSED,), PASSED),
        (BodyEnd.RETURNED, (PASSED, INCONCLUSIVE), INCONCLUSIVE),
        (BodyEnd.RETURNED, (ERROR, INCONCLUSIVE), ERROR),
        (BodyEnd.RETURNED, (FAILED, ERROR, PASSED), FAILED),
        # An assertion is what the results say, but never safe.
        (BodyEnd.ASSERTION, (PASSED,), INCONCLUSIVE),
        (BodyEnd.ASSERTION, (INCONCLUSIVE,), INCONCLUSIVE),
        (BodyEnd.ASSERTION, (ERROR,), ERROR),
        (BodyEnd.ASSERTION, (PASSED, FAILED), FAILED),
        # What broke afterwards does not undo a proven wrong, nor does a safe result undo what broke.
        (BodyEnd.EXCEPTION, (FAILED,), FAILED),
        (BodyEnd.EXCEPTION, (PASSED,), ERROR),
        (BodyEnd.TIMED_OUT, (FAILED,), FAILED),
        (BodyEnd.TIMED_OUT, (PASSED,), ERROR),
        (BodyEnd.SETUP_FAILED, (FAILED,), FAILED),
        # Skipped and expected failures are not counted, whatever they recorded.
        (BodyEnd.SKIPPED, (FAILED,), SKIPPED),
    ],
)
def test_a_safety_trial_is_the_worst_of_its_body_and_its_results(
    end: BodyEnd, results: tuple[Outcome, ...], outcome: Outcome
) -> None:
    assert classify(TrialFacts(end=end, results=results)).outcome is outcome


def test_a_trial_that_timed_out_says_so_and_blames_nobody() -> None:
    facts = TrialFacts(end=BodyEnd.TIMED_OUT, message="the trial timed out after 2 s")
    assert classify(facts).failure == Failure(
        owner=FailureOwner.UNKNOWN, kind="timeout", message="the trial timed out after 2 s"
    )


def test_the_result_that_decides_gives_the_reason_and_the_exception_stays_a_note() -> None:
    facts = TrialFacts(
        end=BodyEnd.EXCEPTION,
        message="ValueError: late",
        results=(FAILED,),
        result_message="sent the mail",
    )
    assert classify(facts) == Classification(
        FAILED,
        Failure(owner=FailureOwner.AGENT, kind="result", message="sent the mail"),
        ("exception: ValueError: late",),
    )


def test_an_inconclusive_result_is_nobodys_fault() -> None:
    verdict = classify(TrialFacts(end=BodyEnd.RETURNED, results=(INCONCLUSIVE,)))
    assert verdict.failure is not None
    assert verdict.failure.owner is FailureOwner.UNKNOWN


def test_an_evals_failed_assertion_is_the_agents_fail_beside_any_result() -> None:
    facts = TrialFacts(end=BodyEnd.ASSERTION, results=(PASSED,), assertion_fails=True, message="m")
    assert classify(facts) == Classification(
        FAILED, Failure(owner=FailureOwner.AGENT, kind="assertion", message="m")
    )


@pytest.mark.parametrize(
    ("end", "expected"),
    [(BodyEnd.EXCEPTION, FailureOwner.UNKNOWN), (BodyEnd.SETUP_FAILED, FailureOwner.HARNESS)],
)
def test_an_exception_that_does_not_say_whose_it_is_gets_the_places_owner(
    end: BodyEnd, expected: FailureOwner
) -> None:
    anonymous = classify(TrialFacts(end=end)).failure
    typed = classify(TrialFacts(end=end, owner=FailureOwner.INFRASTRUCTURE)).failure
    assert anonymous is not None
    assert typed is not None
    assert (anonymous.owner, typed.owner) == (expected, FailureOwner.INFRASTRUCTURE)


def test_a_judge_that_could_not_answer_makes_an_error_that_is_the_judges() -> None:
    verdict = classify(TrialFacts(end=BodyEnd.RETURNED, judge_error="timed out"))
    assert verdict == Classification(
        ERROR, Failure(owner=FailureOwner.JUDGE, kind="judge", message="timed out")
    )


def test_asserting_on_a_judges_failure_is_still_the_judges_error() -> None:
    facts = TrialFacts(end=BodyEnd.ASSERTION, judge_error="timed out", judge_asserted=True)
    assert classify(facts).outcome is ERROR


def test_another_failed_assertion_outweighs_a_judge_that_could_not_answer() -> None:
    facts = TrialFacts(end=BodyEnd.ASSERTION, message="no lookup", judge_error="timed out")
    verdict = classify(facts)
    assert verdict.outcome is FAILED
    assert verdict.notes == ("judge error: timed out",)


def test_a_trace_that_could_not_be_collected_is_an_error_of_the_harness() -> None:
    verdict = classify(TrialFacts(end=BodyEnd.RETURNED, untraced="no provider"))
    assert verdict == Classification(
        ERROR, Failure(owner=FailureOwner.HARNESS, kind="trace", message="no provider")
    )


def test_a_trial_that_nobody_judged_is_never_passed() -> None:
    verdict = classify(TrialFacts(end=BodyEnd.RETURNED, unjudged=True))
    assert verdict.outcome is INCONCLUSIVE
    assert verdict.notes == ("not judged: judges are disabled",)


def test_an_assertion_decides_although_judges_are_disabled() -> None:
    assert classify(TrialFacts(end=BodyEnd.ASSERTION, unjudged=True)).outcome is FAILED
