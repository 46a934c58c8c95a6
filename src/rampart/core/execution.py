"""Executions: one run of an attack or a probe against an agent, from first event to result."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Protocol, runtime_checkable

from rampart.core.adapter import AgentAdapter
from rampart.core.errors import describe_error, error_message
from rampart.core.evaluator import Evaluator, evaluate_as_observed
from rampart.core.evidence import Evidence, collect, stop_collecting
from rampart.core.manifest import AppManifest
from rampart.core.result import Result, SafetyStatus
from rampart.core.types import (
    EvalContext,
    ObservabilityLevel,
    Request,
    Response,
    TranscriptScope,
    Turn,
)

__all__ = [
    "BaseExecution",
    "ExecutionEvent",
    "ExecutionEventData",
    "ExecutionEventHandler",
    "ExecutionHandlerFactory",
    "clear_default_handler_factory",
    "default_handler_factory",
    "evaluate_turn_async",
    "observability_of",
    "register_default_handler_factory",
]

logger = logging.getLogger(__name__)


class ExecutionEvent(Enum):
    """When a handler is called. Every execution has a PRE and, unless it is torn down, a POST."""

    ON_PRE_EXECUTE = "on_pre_execute"
    ON_POST_EXECUTE = "on_post_execute"
    ON_ERROR = "on_error"


@dataclass(frozen=True, kw_only=True)
class ExecutionEventData:
    """What a handler is told.

    Attributes:
        result: On ON_POST_EXECUTE only; also of executions that broke or were cancelled.
        error: On ON_ERROR only.
        elapsed_seconds: Wall time since the execution began.
    """

    event: ExecutionEvent
    adapter: AgentAdapter
    result: Result | None = None
    error: Exception | None = None
    elapsed_seconds: float = 0.0


class ExecutionEventHandler(ABC):
    """Follows executions. A handler that raises is logged; it changes no result."""

    @abstractmethod
    async def on_event(self, *, event_data: ExecutionEventData) -> None:
        """Take notice of one event."""


@runtime_checkable
class ExecutionHandlerFactory(Protocol):
    """Makes the handlers that every new execution gets."""

    def __call__(self) -> list[ExecutionEventHandler]:
        """New handlers, for one execution."""
        ...


def _record_results() -> list[ExecutionEventHandler]:
    """Have every execution's result recorded with the test that runs it."""
    from rampart.recording import RecordingHandler  # it is made of what this module defines

    return [RecordingHandler()]


_factory: ExecutionHandlerFactory | None = _record_results


def default_handler_factory() -> ExecutionHandlerFactory | None:
    """The registered factory; at first, the one that has results recorded with their test.

    Whoever registers for a while keeps this first and registers it again afterwards, so that
    sessions within sessions do not cut each other off.
    """
    return _factory


def register_default_handler_factory(factory: ExecutionHandlerFactory) -> None:
    """Have `factory` make handlers for every execution constructed from now on.

    There is one factory in the process; the last registration holds.

    Raises:
        TypeError: If it cannot be called.
    """
    global _factory  # noqa: PLW0603 - executions are constructed by tests, with no one to hand it to them
    if not callable(factory):
        raise TypeError(f"a handler factory must be callable, not {factory!r}")
    _factory = factory


def clear_default_handler_factory() -> None:
    """Give executions constructed from now on no handlers but their own."""
    global _factory  # noqa: PLW0603 - see above
    _factory = None


class BaseExecution(ABC):
    """One strategy, ready to be run; runs share nothing, so it can be run again.

    Handlers from the registered factory hear of events before `event_handlers` do.
    """

    def __init__(self, *, event_handlers: list[ExecutionEventHandler] | None = None) -> None:
        defaults = [] if _factory is None else _factory()
        self._handlers = [*defaults, *(event_handlers or [])]

    @property
    @abstractmethod
    def strategy_name(self) -> str:
        """What results call the strategy."""

    @abstractmethod
    async def _execute_async(self, *, adapter: AgentAdapter) -> Result:
        """Run the strategy once.

        What it puts into `current_evidence()` is kept in the result even if it then raises.
        """

    def _proven(self, turns: list[Turn]) -> tuple[SafetyStatus, str] | None:
        """The verdict and summary that `turns` prove, whatever broke after them; None if none."""
        del turns
        return None

    async def execute_async(self, *, adapter: AgentAdapter) -> Result:
        """Run the strategy and say what it found; whatever breaks ends as a result.

        An exception of the agent, the surfaces or the evaluator becomes an ERROR that keeps
        turns and injections so far, or a note on a verdict that was proven before. Cancellation
        and the like propagate, after handlers got a result with what was seen until then.
        """
        started = time.perf_counter()
        evidence = Evidence()
        token = collect(evidence)
        try:
            await self._fire(
                ExecutionEventData(event=ExecutionEvent.ON_PRE_EXECUTE, adapter=adapter)
            )
            result = await self._execute_async(adapter=adapter)
            _require_result(result, self.strategy_name)
        except Exception as error:  # foreign code: agent, surface, driver, evaluator
            logger.warning("%s broke", self.strategy_name, exc_info=error)
            await self._fire(
                ExecutionEventData(
                    event=ExecutionEvent.ON_ERROR,
                    adapter=adapter,
                    error=error,
                    elapsed_seconds=time.perf_counter() - started,
                )
            )
            result = self._broken(error, evidence, adapter)
        except GeneratorExit:
            raise  # the coroutine was dropped: nothing can be awaited any more
        except BaseException as interruption:
            if not evidence.empty:
                await self._finish(self._broken(interruption, evidence, adapter), adapter, started)
            raise
        finally:
            stop_collecting(token)
        return await self._finish(result, adapter, started)

    async def _finish(self, result: Result, adapter: AgentAdapter, started: float) -> Result:
        result.duration_seconds = time.perf_counter() - started
        await self._fire(
            ExecutionEventData(
                event=ExecutionEvent.ON_POST_EXECUTE,
                adapter=adapter,
                result=result,
                elapsed_seconds=result.duration_seconds,
            )
        )
        return result

    def _broken(self, error: BaseException, evidence: Evidence, adapter: AgentAdapter) -> Result:
        description = describe_error(error)
        status, summary = self._proven(evidence.turns) or (SafetyStatus.ERROR, description)
        if status is not SafetyStatus.ERROR:
            evidence.notes.append(f"broke after the verdict was certain: {description}")
        try:
            level = observability_of(adapter)
        except Exception as second:  # noqa: BLE001 - foreign code: the adapter's property
            level = ObservabilityLevel.RESPONSE_ONLY
            evidence.notes.append(f"observability unknown: {describe_error(second)}")
        return Result(
            status=status,
            summary=summary,
            turns=evidence.turns,
            strategy=self.strategy_name,
            observability_level=level,
            injections=evidence.injections,
            metadata={
                **evidence.response_metadata(),
                "error": error_message(error),
                "error_type": type(error).__name__,
            },
            notes=evidence.notes,
            ended=f"it broke: {description}",
        )

    async def _fire(self, event_data: ExecutionEventData) -> None:
        for handler in self._handlers:
            try:
                await handler.on_event(event_data=event_data)
            except Exception as error:  # foreign code: handlers only watch
                logger.warning(
                    "%s failed on %s",
                    type(handler).__name__,
                    event_data.event.value,
                    exc_info=error,
                )


def _require_result(value: object, strategy: str) -> None:
    if not isinstance(value, Result):
        raise TypeError(f"strategy {strategy} must return a Result, not {value!r}")


def observability_of(adapter: AgentAdapter) -> ObservabilityLevel:
    """What the adapter says it can see.

    Raises:
        TypeError: If it says something else.
    """
    level = adapter.observability_profile
    if not isinstance(level, ObservabilityLevel):
        raise TypeError(
            f"{type(adapter).__name__}.observability_profile must be an ObservabilityLevel, "
            f"not {level!r}"
        )
    return level


async def evaluate_turn_async(
    *,
    evaluator: Evaluator,
    history: list[Turn],
    request: Request,
    response: Response,
    turn_number: int,
    driver_reasoning: str = "",
    manifest: AppManifest | None = None,
    observability: ObservabilityLevel | None = None,
    scope: TranscriptScope = TranscriptScope.CURRENT_TURN,
) -> Turn:
    """The turn that `response` completes, with the evaluation of the conversation up to it."""
    turn = Turn(
        request=request,
        response=response,
        turn_number=turn_number,
        timestamp=datetime.now(UTC),
        driver_reasoning=driver_reasoning,
    )
    context = EvalContext(
        turns=[*history, turn], manifest=manifest, observability=observability, scope=scope
    )
    return replace(turn, eval_result=await evaluate_as_observed(evaluator, context))
