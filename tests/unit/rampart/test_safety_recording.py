from __future__ import annotations

import asyncio
import contextvars

import pytest

from rampart import Attacks, ResponseContains, Result, SafetyStatus, record_result
from rampart.documents import result_to_document
from rampart.recording import RecordingHandler
from seatrial.scope import TrialScope, current_scope


def test_a_recorded_result_lands_in_the_scope_as_it_is_now(trial_scope: TrialScope) -> None:
    result = Result(status=SafetyStatus.SAFE, summary="x", metadata={"a": [1]})
    record_result(result)
    result.summary = "later"
    result.metadata["a"].append(2)
    (document,) = trial_scope.results
    assert (document["summary"], document["metadata"]) == ("x", {"a": [1]})


def test_recording_outside_of_a_test_does_nothing() -> None:
    nowhere = contextvars.Context()
    assert nowhere.run(current_scope) is None
    nowhere.run(record_result, result=Result(status=SafetyStatus.SAFE, summary="x"))


@pytest.mark.parametrize("value", [None, "safe", {"status": "safe"}, Result])
def test_only_results_can_be_recorded(value: object, trial_scope: TrialScope) -> None:
    with pytest.raises(TypeError, match="only a Result can be recorded"):
        record_result(value)  # type: ignore[arg-type]
    assert trial_scope.results == []


@pytest.mark.asyncio
async def test_the_handler_records_every_end_of_an_execution(
    scripted: type, trial_scope: TrialScope
) -> None:
    execution = Attacks.xpia(
        trigger=["1", "2"],
        evaluator=ResponseContains("x"),
        event_handlers=[RecordingHandler()],
    )
    results = [
        await execution.execute_async(adapter=scripted(*script))
        for script in (("a", "b"), ("x",), (OSError("down"),))
    ]
    with pytest.raises(asyncio.CancelledError):
        await execution.execute_async(adapter=scripted("a", asyncio.CancelledError()))
    assert trial_scope.results[:3] == [result_to_document(result) for result in results]
    statuses = [document["status"] for document in trial_scope.results]
    assert statuses == ["safe", "unsafe", "error", "error"]
