"""Results on their way from an execution, or a test's own hands, into the trial's record."""

from __future__ import annotations

from rampart.core.execution import ExecutionEvent, ExecutionEventData, ExecutionEventHandler
from rampart.core.result import Result
from rampart.documents import result_to_document
from seatrial.scope import current_scope

__all__ = ["RecordingHandler", "record_result"]


def record_result(result: Result) -> None:
    """Record `result`, as it is now, with the test that is running; outside of a test, do nothing.

    Recording twice counts twice. Results of executions are recorded by themselves.

    Raises:
        TypeError: If it is not a Result.
    """
    if not isinstance(result, Result):
        raise TypeError(f"only a Result can be recorded, not a {type(result).__name__}")
    scope = current_scope()
    if scope is not None:
        scope.results.append(result_to_document(result))


class RecordingHandler(ExecutionEventHandler):
    """Records the result of every execution that it follows."""

    async def on_event(self, *, event_data: ExecutionEventData) -> None:
        """Record on ON_POST_EXECUTE, the one event that has a result."""
        if event_data.event is ExecutionEvent.ON_POST_EXECUTE and event_data.result is not None:
            record_result(event_data.result)
