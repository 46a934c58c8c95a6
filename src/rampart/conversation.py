"""The one turn loop: what attacks and probes share.

An execution puts payloads in place, opens sessions, takes turns until it is settled, cleans up, and
turns what was seen into a result. Attacks and probes differ in what settles it; strategies in what
they say, in how many sessions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from typing import ClassVar

from rampart.arguments import positive
from rampart.core.adapter import AgentAdapter
from rampart.core.evaluator import Evaluator, is_evaluator
from rampart.core.evidence import Evidence, current_evidence
from rampart.core.execution import BaseExecution, ExecutionEventHandler, observability_of
from rampart.core.injection import InjectionHandle
from rampart.core.prompt_driver import PromptDriver
from rampart.core.result import Result, SafetyStatus
from rampart.core.timeouts import DEFAULT_TIMEOUTS, Timeouts
from rampart.core.types import Channel, EvalResult, ObservabilityLevel, TranscriptScope, Turn
from rampart.delivery import observe_delivery
from rampart.drivers.static import StaticDriver, is_driver
from rampart.injections import as_handles, put_in_place
from rampart.turns import Table, next_decision, open_session, take_turn

__all__ = ["ConversationExecution", "DialogueExecution", "evaluations_of"]


class DialogueExecution(BaseExecution):
    """A strategy that talks with the agent and evaluates every turn.

    Subclasses say what is said, what text their evaluator looks at, when the execution is settled,
    which evaluations decide, and what those mean.

    Args:
        evaluator: What looks at every turn.
        handles: Payloads to put in place first. Entered in order, left in reverse.
        timeouts: How long each part may take; see `Timeouts` for what holds without.

    Raises:
        TypeError: If evaluator or handles are no such things.
    """

    scope: ClassVar[TranscriptScope]

    def __init__(
        self,
        *,
        evaluator: Evaluator,
        handles: Sequence[InjectionHandle] = (),
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> None:
        if not is_evaluator(evaluator):
            raise TypeError(f"evaluator must have evaluate_async(*, context), not be {evaluator!r}")
        super().__init__(event_handlers=event_handlers)
        self._evaluator = evaluator
        self._handles = as_handles(handles)
        self._timeouts = timeouts or DEFAULT_TIMEOUTS

    @abstractmethod
    async def _converse(self, table: Table, cleanup: AsyncExitStack) -> str:
        """Open sessions and take turns until it is over; says why it is."""

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
        table = Table(
            adapter=adapter,
            observability=observability_of(adapter),
            evidence=evidence,
            evaluator=self._evaluator,
            scope=self.scope,
            timeouts=self._timeouts,
        )
        async with AsyncExitStack() as cleanup:
            await put_in_place(self._handles, cleanup, evidence, self._timeouts)
            ended = await self._converse(table, cleanup)
            if self._handles:
                await observe_delivery(self._handles, evidence, table.observability, self._timeouts)
        status, summary = self._verdict(evidence, table.observability)
        return Result(
            status=status,
            summary=summary,
            turns=evidence.turns,
            strategy=self.strategy_name,
            observability_level=table.observability,
            injections=evidence.injections,
            metadata=evidence.response_metadata(),
            notes=evidence.notes,
            ended=ended,
            decided_by=self._decided_by(status, evidence.turns),
        )

    def _decided_by(self, status: SafetyStatus, turns: list[Turn]) -> int | None:
        """The turn that the verdict rests on; the last evaluated one if all of them together."""
        evaluated = [turn for turn in turns if turn.eval_result is not None]
        deciding = self._deciding(evaluations_of(turns))
        for turn, found in zip(evaluated[-len(deciding) :], deciding, strict=False):
            if status is not SafetyStatus.SAFE and self._resolve([found]) is status:
                return turn.turn_number
        return evaluated[-1].turn_number if evaluated else None

    def _verdict(
        self, evidence: Evidence, observability: ObservabilityLevel
    ) -> tuple[SafetyStatus, str]:
        deciding = self._deciding(evaluations_of(evidence.turns))
        status = self._resolve(deciding)
        unseen = _unseen(deciding)
        if status is SafetyStatus.SAFE and unseen:
            status = SafetyStatus.UNDETERMINED
        if status is SafetyStatus.ERROR:
            return status, "Nothing was tested: the driver sent no prompt"
        if status is SafetyStatus.UNDETERMINED:
            return status, _doubt(deciding, unseen, observability)
        if status is SafetyStatus.SAFE and evidence.injections:
            undelivered = [i.surface_name for i in evidence.injections if i.delivered is False]
            if undelivered:
                names = ", ".join(dict.fromkeys(undelivered))
                return SafetyStatus.UNDETERMINED, f"Could not tell: payload not delivered ({names})"
            if any(injection.delivered is None for injection in evidence.injections):
                evidence.notes.append("delivery not observed")
        return status, self._describe(status, deciding)


class ConversationExecution(DialogueExecution):
    """One session, led by a driver.

    Args:
        driver: Who decides what the agent is told.
        evaluator: What looks at every turn.
        max_turns: Turns after which the conversation ends, settled or not; at least 1.
        handles: Payloads to put in place first.
        timeouts: How long each part may take.

    Raises:
        ValueError: If `max_turns` is below 1.
        TypeError: If an argument is of the wrong kind.
    """

    def __init__(
        self,
        *,
        driver: PromptDriver,
        evaluator: Evaluator,
        max_turns: int,
        handles: Sequence[InjectionHandle] = (),
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> None:
        self._max_turns = positive("max_turns", max_turns)
        if not is_driver(driver):
            raise TypeError(f"driver must be a PromptDriver, not {driver!r}")
        super().__init__(
            evaluator=evaluator, handles=handles, timeouts=timeouts, event_handlers=event_handlers
        )
        self._driver = driver

    async def _converse(self, table: Table, cleanup: AsyncExitStack) -> str:
        session = await open_session(table, cleanup)
        turns = table.evidence.turns
        for _ in range(self._max_turns):
            decision = await next_decision(self._driver, turns, table.timeouts)
            if decision is None:
                return "the driver had nothing more to say"
            turn = await take_turn(table, session, decision, history=turns)
            assert turn.eval_result is not None
            if self._settled_by(turn.eval_result):
                return "no further turn could change the verdict"
        unsent = self._driver.unsent(turns) if isinstance(self._driver, StaticDriver) else 0
        if unsent:
            note = f"{unsent} prompts were not sent: max_turns is {self._max_turns}"
            table.evidence.notes.append(note)
        return f"max_turns ({self._max_turns}) was reached"


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
