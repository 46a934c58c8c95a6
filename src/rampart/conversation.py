"""The one turn loop: what attacks and probes share.

A conversation puts payloads in place, opens a session, takes turns until it is settled, cleans
up, and turns what was seen into a result. Attacks and probes differ in what settles it.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from inspect import isawaitable
from types import CoroutineType, TracebackType
from typing import ClassVar, TypeVar

from rampart.core.adapter import AgentAdapter, Session
from rampart.core.errors import DriverError, InfrastructureError, describe_error
from rampart.core.evaluator import Evaluator, evaluate_as_observed, is_evaluator
from rampart.core.evidence import Evidence, current_evidence
from rampart.core.execution import BaseExecution, ExecutionEventHandler, observability_of
from rampart.core.injection import InjectionHandle
from rampart.core.prompt_driver import PromptDecision, PromptDriver
from rampart.core.result import InjectionRecord, Result, SafetyStatus
from rampart.core.types import (
    Channel,
    EvalContext,
    EvalResult,
    ObservabilityLevel,
    Response,
    TranscriptScope,
    Turn,
)
from rampart.drivers.static import StaticDriver, is_driver

__all__ = ["ConversationExecution"]

_T = TypeVar("_T")


class ConversationExecution(BaseExecution):
    """A strategy that talks with the agent and evaluates every turn.

    Subclasses say what text their evaluator looks at, when the conversation is settled, which
    evaluations decide, and what those mean.

    Args:
        driver: Who decides what the agent is told.
        max_turns: Turns after which the conversation ends, settled or not; at least 1.
        handles: Payloads to put in place first. Entered in order, left in reverse.

    Raises:
        ValueError: If `max_turns` is below 1.
        TypeError: If `max_turns` is no whole number, or evaluator or handles are no such things.
    """

    scope: ClassVar[TranscriptScope]

    def __init__(
        self,
        *,
        driver: PromptDriver,
        evaluator: Evaluator,
        max_turns: int,
        handles: Sequence[InjectionHandle] = (),
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> None:
        if not isinstance(max_turns, int) or isinstance(max_turns, bool):
            raise TypeError(f"max_turns must be a whole number >= 1, not {max_turns!r}")
        if max_turns < 1:
            raise ValueError(f"max_turns must be >= 1, not {max_turns}")
        if not is_driver(driver):
            raise TypeError(f"driver must be a PromptDriver, not {driver!r}")
        if not is_evaluator(evaluator):
            raise TypeError(f"evaluator must have evaluate_async(*, context), not be {evaluator!r}")
        for handle in handles:
            if not _is_handle(handle):
                raise TypeError(
                    "inject takes an InjectionHandle, as surface.inject(payload=...) returns it, "
                    f"or a list of them, not {handle!r}"
                )
        super().__init__(event_handlers=event_handlers)
        self._driver = driver
        self._evaluator = evaluator
        self._max_turns = max_turns
        self._handles = tuple(handles)

    @abstractmethod
    def _settled_by(self, evaluation: EvalResult) -> bool:
        """Whether no further turn could change the verdict."""

    @abstractmethod
    def _deciding(self, evaluations: list[EvalResult]) -> list[EvalResult]:
        """The evaluations that the verdict rests on."""

    @abstractmethod
    def _resolve(self, deciding: list[EvalResult]) -> SafetyStatus:
        """What they mean, unseen channels aside."""

    @abstractmethod
    def _describe(self, status: SafetyStatus, deciding: list[EvalResult]) -> str:
        """The summary of a SAFE or an UNSAFE verdict."""

    async def _execute_async(self, *, adapter: AgentAdapter) -> Result:
        evidence = current_evidence()
        observability = observability_of(adapter)
        async with AsyncExitStack() as cleanup:
            await self._inject(cleanup, evidence)
            session = await self._open_session(adapter, cleanup, evidence)
            await self._take_turns(session, adapter, observability, evidence)
        status, summary = self._verdict(evidence.turns, observability)
        return Result(
            status=status,
            summary=summary,
            turns=evidence.turns,
            strategy=self.strategy_name,
            observability_level=observability,
            injections=evidence.injections,
            metadata=evidence.response_metadata(),
            notes=evidence.notes,
        )

    async def _inject(self, cleanup: AsyncExitStack, evidence: Evidence) -> None:
        for handle in self._handles:
            await handle.__aenter__()
            leave = _NotingExit(handle, "surface", evidence)
            cleanup.push_async_exit(leave)
            record = InjectionRecord(payload_id=handle.payload_id, surface_name=handle.surface_name)
            leave.name = f"surface {record.surface_name}"
            evidence.injections.append(record)
        if self._handles:
            await _all_ready(self._handles, evidence)

    async def _open_session(
        self, adapter: AgentAdapter, cleanup: AsyncExitStack, evidence: Evidence
    ) -> Session:
        session = await _awaitable(adapter.create_session_async(), adapter, "create_session_async")
        entered = await session.__aenter__()
        cleanup.push_async_exit(_NotingExit(session, "session", evidence))
        return entered

    async def _take_turns(
        self,
        session: Session,
        adapter: AgentAdapter,
        observability: ObservabilityLevel,
        evidence: Evidence,
    ) -> None:
        turns = evidence.turns
        for turn_number in range(self._max_turns):
            decision = await self._driver.next_prompt_async(history=list(turns))
            if decision is None:
                return
            if not isinstance(decision, PromptDecision):
                raise DriverError(
                    f"{type(self._driver).__name__} must decide on a PromptDecision or None, "
                    f"not {decision!r}"
                )
            turn = Turn(
                request=decision.request,
                response=_own(
                    await _awaitable(session.send_async(decision.request), session, "send_async"),
                    session,
                ),
                turn_number=turn_number,
                timestamp=datetime.now(UTC),
                driver_reasoning=decision.reasoning,
            )
            turns.append(turn)  # kept even if the evaluator breaks on it
            context = EvalContext(
                turns=list(turns),
                manifest=adapter.manifest,
                observability=observability,
                scope=self.scope,
            )
            evaluation = await evaluate_as_observed(self._evaluator, context)
            turns[-1] = replace(turn, eval_result=evaluation)
            if self._settled_by(evaluation):
                return
        unsent = self._driver.unsent(turns) if isinstance(self._driver, StaticDriver) else 0
        if unsent:
            evidence.notes.append(f"{unsent} prompts were not sent: max_turns is {self._max_turns}")

    def _verdict(
        self, turns: list[Turn], observability: ObservabilityLevel
    ) -> tuple[SafetyStatus, str]:
        deciding = self._deciding(evaluations_of(turns))
        status = self._resolve(deciding)
        unseen = _unseen(deciding)
        if status is SafetyStatus.SAFE and unseen:
            status = SafetyStatus.UNDETERMINED
        if status is SafetyStatus.ERROR:
            return status, "Nothing was tested: the driver sent no prompt"
        if status is SafetyStatus.UNDETERMINED:
            return status, _doubt(deciding, unseen, observability)
        return status, self._describe(status, deciding)


class _NotingExit:
    """Leaves one context manager; what breaks there is noted and changes no verdict."""

    def __init__(self, context: InjectionHandle | Session, name: str, evidence: Evidence) -> None:
        self._context = context
        self.name = name
        self._evidence = evidence

    async def __call__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        try:
            await self._context.__aexit__(exc_type, exc, traceback)
        except Exception as error:  # noqa: BLE001 - foreign code: noted in the result
            if error is not exc:  # some exits raise again what they were told of
                note = f"{self.name}: clean-up failed: {describe_error(error)}"
                self._evidence.notes.append(note)
        return False


async def _all_ready(handles: Iterable[InjectionHandle], evidence: Evidence) -> None:
    """Wait for all handles at once; the first failure ends the waiting and is raised as it is."""

    async def wait_for(handle: InjectionHandle) -> None:
        try:
            await handle.wait_until_ready()
        except Exception:
            evidence.notes.append(f"surface {handle.surface_name}: not ready")
            raise

    try:
        async with asyncio.TaskGroup() as group:
            waits = [group.create_task(wait_for(handle)) for handle in handles]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    if any(wait.cancelled() for wait in waits):
        raise InfrastructureError("a surface cancelled its own wait_until_ready")


def _is_handle(value: object) -> bool:
    # Not isinstance: with a runtime protocol it would run the handle's properties.
    kind = type(value)
    return all(hasattr(kind, name) for name in ("__aenter__", "__aexit__")) and callable(
        getattr(value, "wait_until_ready", None)
    )


def _awaitable(answer: Awaitable[_T], owner: object, method: str) -> Awaitable[_T]:
    """What an adapter's method gave, if it can be awaited: forgetting `async` is easily done."""
    if not (isinstance(answer, CoroutineType) or isawaitable(answer)):
        raise TypeError(
            f"{type(owner).__name__}.{method} must be `async def`, but it returned"
            f" {type(answer).__name__} at once"
        )
    return answer


def _own(response: Response, session: Session) -> Response:
    """The conversation's own copy, which an adapter that reuses its lists cannot change."""
    if not isinstance(response, Response):
        raise TypeError(
            f"{type(session).__name__}.send_async must return a Response, "
            f"not a {type(response).__name__}"
        )
    return replace(
        response,
        tool_calls=[replace(call, arguments=dict(call.arguments)) for call in response.tool_calls],
        side_effects=[
            replace(effect, details=dict(effect.details)) for effect in response.side_effects
        ],
        metadata=dict(response.metadata),
    )


def evaluations_of(turns: Iterable[Turn]) -> list[EvalResult]:
    """The evaluations of those turns that have one."""
    return [turn.eval_result for turn in turns if turn.eval_result is not None]


def _unseen(evaluations: Iterable[EvalResult]) -> frozenset[Channel]:
    return frozenset().union(*(evaluation.unseen for evaluation in evaluations))


def _doubt(
    deciding: list[EvalResult], unseen: frozenset[Channel], observability: ObservabilityLevel
) -> str:
    if unseen:
        names = " and ".join(sorted(unseen))
        return f"Could not tell: the adapter is {observability.value} and cannot see {names}"
    reasons = [evaluation.rationale for evaluation in deciding if evaluation.rationale]
    return f"Could not tell: {'; '.join(reasons[:2]) or 'the evaluator gave no reason'}"
