"""Classification: from what happened in a trial to its outcome and whose fault it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from seatrial.outcome import FailureOwner, Outcome, worst
from seatrial.trial import Failure

__all__ = ["BodyEnd", "Classification", "TrialFacts", "classify"]


class BodyEnd(StrEnum):
    """How the test itself ended, before any evidence is weighed."""

    RETURNED = "returned"
    ASSERTION = "assertion"  # an AssertionError or pytest.fail in the body
    EXCEPTION = "exception"  # anything else that the body raised
    TIMED_OUT = "timed out"  # the body took longer than its time limit
    SETUP_FAILED = "setup"  # a fixture failed, however it did
    SKIPPED = "skipped"  # skip or expected failure: not counted
    UNEXPECTED_PASS = "unexpected pass"  # a strict xfail that passed


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFacts:
    """What is known of a trial when its body has ended.

    Attributes:
        end: How the body ended.
        message: What the exception said.
        owner: Whose fault the exception is, if the exception tells.
        results: Outcomes of the safety results that were recorded.
        result_message: What the worst of them said.
        judge_error: Why a judge could not answer, if one could not.
        judge_asserted: Whether the assertion that failed is about that judge's answer.
        unjudged: Whether a judgement was left out because judges are disabled.
        untraced: Why the trace of a case could not be collected, if so.
        assertion_fails: Whether a failed assertion is the agent's fail whatever was recorded.
    """

    end: BodyEnd
    message: str = ""
    owner: FailureOwner | None = None
    results: tuple[Outcome, ...] = ()
    result_message: str = ""
    judge_error: str | None = None
    judge_asserted: bool = False
    unjudged: bool = False
    untraced: str | None = None
    assertion_fails: bool = False


@dataclass(frozen=True, slots=True)
class Classification:
    """A trial's outcome, why, and what else a reader should know."""

    outcome: Outcome
    failure: Failure | None = None
    notes: tuple[str, ...] = ()


def classify(facts: TrialFacts) -> Classification:
    """The outcome of a trial: the worst of how its body ended and of what was recorded.

    Skipped and expectedly failing trials are not counted, whatever they recorded. An assertion
    beside recorded results counts as what the results say, but never as passed. A judge's failure
    is not the agent's, unless an assertion that is not about the judge failed too.
    """
    if facts.end is BodyEnd.SKIPPED:
        return Classification(Outcome.SKIPPED)
    body = _body(facts)
    recorded = worst(facts.results)
    if recorded is None:
        return body
    outcome = worst([body.outcome, recorded])
    if outcome is recorded and recorded is not body.outcome:
        failure = Failure(
            owner=FailureOwner.AGENT if recorded is Outcome.FAILED else FailureOwner.UNKNOWN,
            kind="result",
            message=facts.result_message,
        )
        notes = body.notes
        if body.failure is not None and body.failure.kind != "assertion":
            notes = (*notes, f"{body.failure.kind}: {body.failure.message}")
        return Classification(recorded, failure, notes)
    return body


def _body(facts: TrialFacts) -> Classification:
    end = facts.end
    if end is BodyEnd.SETUP_FAILED:
        return _error(facts.owner or FailureOwner.HARNESS, "setup", facts.message)
    if end is BodyEnd.EXCEPTION:
        return _error(facts.owner or FailureOwner.UNKNOWN, "exception", facts.message)
    if end is BodyEnd.TIMED_OUT:
        return _error(facts.owner or FailureOwner.UNKNOWN, "timeout", facts.message)
    if end is BodyEnd.UNEXPECTED_PASS:
        return _failed("assertion", facts.message)
    if end is BodyEnd.ASSERTION:
        return _assertion(facts)
    if facts.judge_error is not None:
        return _error(FailureOwner.JUDGE, "judge", facts.judge_error)
    if facts.untraced is not None:
        return _error(FailureOwner.HARNESS, "trace", facts.untraced)
    if facts.unjudged:
        return Classification(Outcome.INCONCLUSIVE, None, ("not judged: judges are disabled",))
    return Classification(Outcome.PASSED)


def _assertion(facts: TrialFacts) -> Classification:
    if facts.judge_error is not None:
        if facts.judge_asserted:
            return _error(FailureOwner.JUDGE, "judge", facts.judge_error)
        failed = _failed("assertion", facts.message)
        return Classification(
            failed.outcome, failed.failure, (f"judge error: {facts.judge_error}",)
        )
    if facts.assertion_fails or not facts.results or Outcome.FAILED in facts.results:
        return _failed("assertion", facts.message)
    # The recorded results do not say that the agent did wrong, the test does not say that it did
    # right: nobody could tell.
    failure = Failure(owner=FailureOwner.UNKNOWN, kind="assertion", message=facts.message)
    return Classification(Outcome.INCONCLUSIVE, failure)


def _error(owner: FailureOwner, kind: str, message: str) -> Classification:
    return Classification(Outcome.ERROR, Failure(owner=owner, kind=kind, message=message))


def _failed(kind: str, message: str) -> Classification:
    return Classification(
        Outcome.FAILED, Failure(owner=FailureOwner.AGENT, kind=kind, message=message)
    )
