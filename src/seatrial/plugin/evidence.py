"""Evidence: from a scope and pytest's report to the record that a trial leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from seatrial.classify import BodyEnd, TrialFacts, classify
from seatrial.errors import TrialTimeoutError
from seatrial.outcome import FailureOwner, Outcome, worst
from seatrial.plugin.faces import Face, ResultReading, loaded_faces
from seatrial.plugin.keys import planned_key, position_key
from seatrial.plugin.refused import TrialRefused
from seatrial.scope import TrialScope
from seatrial.snapshot import JsonObject
from seatrial.trial import Amendment, Failure, TrialKey, TrialRecord

if TYPE_CHECKING:
    from seatrial.trace import Trace

__all__ = ["amendment_of", "note_part", "record_of"]

_RAISED = (BodyEnd.ASSERTION, BodyEnd.EXCEPTION, BodyEnd.TIMED_OUT)


def record_of(
    item: pytest.Item,
    face: Face,
    scope: TrialScope,
    report: pytest.TestReport,
    call: pytest.CallInfo[None] | None,
) -> TrialRecord:
    """The record of a trial whose call has ended, or whose set-up failed or skipped."""
    trace = _trace(scope)
    facts = _facts(item, face, scope, trace, report, call)
    parts = [
        replace(
            facts,
            end=part.end,
            message=part.message,
            owner=part.owner,
            judge_asserted=part.judge_asserted,
        )
        for part in scope.parts
    ]
    verdicts = [classify(ending) for ending in (facts, *parts)]
    outcome = worst(verdict.outcome for verdict in verdicts)
    verdict = next(verdict for verdict in verdicts if verdict.outcome is outcome)
    results = tuple(scope.results)
    scope.results_recorded = len(results)
    scope.calls_recorded = len(scope.model_calls)
    planned = item.stash.get(planned_key, None)
    return TrialRecord(
        key=planned.key if planned is not None else _plain_key(item, face, scope.nodeid),
        nodeid=scope.nodeid,
        outcome=verdict.outcome,
        failure=verdict.failure,
        results=results,
        judgements=tuple(scope.judgements),
        model_calls=_copies(scope.model_calls),
        trace=trace,
        case=scope.case,
        output=scope.output,
        notes=(*scope.notes, *verdict.notes),
        harms=planned.harms if planned is not None else face.harms(item),
        duration_s=report.duration if report.when == "call" else 0.0,
        started_at=scope.started_at,
        attempt=scope.attempt,
        position=item.stash.get(position_key, 0),
        asserted=any(ending.end in _RAISED for ending in (facts, *parts)),
    )


def note_part(
    item: pytest.Item,
    face: Face,
    scope: TrialScope,
    report: pytest.TestReport,
    call: pytest.CallInfo[None],
) -> Outcome | None:
    """Remember how a subtest raised; its trial will count as ended no better.

    Returns:
        What the trial amounts to so far, or None if the subtest did not fail.
    """
    facts = _facts(item, face, scope, _trace(scope), report, call)
    if facts.end not in _RAISED:
        return None
    scope.parts.append(facts)
    return classify(facts).outcome


def _facts(
    item: pytest.Item,
    face: Face,
    scope: TrialScope,
    trace: Trace | None,
    report: pytest.TestReport,
    call: pytest.CallInfo[None] | None,
) -> TrialFacts:
    error = None if call is None or call.excinfo is None else call.excinfo.value
    end = _end(report, error)
    readings = _readings(item.config, tuple(scope.results))
    return TrialFacts(
        end=end,
        message=_message(report, error),
        owner=None if error is None else _owner(face, error),
        results=tuple(reading.outcome for reading in readings),
        result_message=_worst_message(readings),
        judge_error=_judge_error(scope),
        judge_asserted=end is BodyEnd.ASSERTION
        and error is not None
        and face.is_about_judge(error),
        unjudged=any(_is_disabled(judgement) for judgement in scope.judgements),
        untraced=trace.missing
        if trace is not None and not trace.observed and scope.case_ran
        else None,
        assertion_fails=face.assertion_fails,
    )


def amendment_of(
    item: pytest.Item,
    face: Face,
    scope: TrialScope,
    report: pytest.TestReport,
    excinfo: pytest.ExceptionInfo[BaseException] | None,
) -> Amendment | None:
    """What a trial's tear-down adds to its record, or None if it adds nothing."""
    results = tuple(scope.results[scope.results_recorded or 0 :])
    failure = None
    if report.failed and excinfo is not None:
        owner = _owner(face, excinfo.value) or FailureOwner.HARNESS
        failure = Failure(owner=owner, kind="teardown", message=_message(report, excinfo.value))
    model_calls = _copies(scope.model_calls[scope.calls_recorded :])
    if failure is None and not results and not model_calls:
        return None
    readings = _readings(item.config, results)
    outcomes = [reading.outcome for reading in readings]
    if failure is not None:
        outcomes.append(Outcome.ERROR)
    outcome = worst(outcomes) or Outcome.SKIPPED
    if outcome is Outcome.FAILED or (outcome is Outcome.ERROR and failure is None):
        owner = FailureOwner.AGENT if outcome is Outcome.FAILED else FailureOwner.UNKNOWN
        failure = Failure(owner=owner, kind="result", message=_worst_message(readings))
    return Amendment(
        nodeid=scope.nodeid,
        outcome=outcome,
        failure=failure,
        results=results,
        model_calls=model_calls,
    )


def _copies(calls: list[JsonObject]) -> tuple[JsonObject, ...]:
    """The calls as they are now: one that nobody waits for any more may still end."""
    return tuple(call.copy() for call in calls)


def _plain_key(item: pytest.Item, face: Face, nodeid: str) -> TrialKey:
    callspec = getattr(item, "callspec", None)
    case = "" if callspec is None else callspec.id
    test = nodeid.removesuffix(f"[{case}]") if case else nodeid
    return TrialKey(face=face.name, test=test, case=case, index=1, total=1)


def _end(report: pytest.TestReport, error: BaseException | None) -> BodyEnd:
    if report.skipped or hasattr(report, "wasxfail"):
        return BodyEnd.SKIPPED
    if report.passed:
        return BodyEnd.RETURNED
    if report.when == "setup":
        return BodyEnd.SETUP_FAILED
    if error is None:
        return BodyEnd.UNEXPECTED_PASS
    is_assertion = isinstance(error, (AssertionError, pytest.fail.Exception))
    if is_assertion and not isinstance(error, TrialRefused):
        return BodyEnd.ASSERTION
    return BodyEnd.TIMED_OUT if isinstance(error, TrialTimeoutError) else BodyEnd.EXCEPTION


def _message(report: pytest.TestReport, error: BaseException | None) -> str:
    if error is None:
        return report.longreprtext if report.failed else ""
    try:
        text = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as broken:  # noqa: BLE001 - a foreign __str__ must not cost us the record
        text = f"(its message could not be read: {type(broken).__name__})"
    if isinstance(error, (AssertionError, pytest.fail.Exception)):
        return text or "assertion failed"
    if isinstance(error, TrialTimeoutError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _owner(face: Face, error: BaseException) -> FailureOwner | None:
    seen: BaseException | None = error
    for _ in range(16):  # causes may form a cycle
        if seen is None:
            return None
        owner = FailureOwner.HARNESS if isinstance(seen, TrialRefused) else face.owner(seen)
        if owner is not None:
            return owner
        seen = seen.__cause__ or seen.__context__
    return None


def _readings(config: pytest.Config, results: tuple[JsonObject, ...]) -> tuple[ResultReading, ...]:
    readings = []
    for document in results:
        for face in loaded_faces(config):
            reading = face.read_result(document)
            if reading is not None:
                readings.append(reading)
                break
    return tuple(readings)


def _worst_message(readings: tuple[ResultReading, ...]) -> str:
    outcome = worst(reading.outcome for reading in readings)
    return next((r.message for r in readings if r.outcome is outcome), "")


def _judge_error(scope: TrialScope) -> str | None:
    for judgement in scope.judgements:
        if judgement.get("error") and not _is_disabled(judgement):
            return str(judgement.get("reasoning") or "the judge could not answer")
    return None


def _is_disabled(judgement: JsonObject) -> bool:
    metadata = judgement.get("metadata")
    return isinstance(metadata, dict) and metadata.get("disabled") is True


def _trace(scope: TrialScope) -> Trace | None:
    if scope.spans is None:
        return None
    from seatrial.capture import read_trace

    return read_trace(scope)
