"""Turns with the agent: sessions opened and closed, requests sent, answers evaluated.

What conversations of any shape share. Everything goes into the evidence as it happens, so that
nothing is lost when a later step breaks.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from inspect import isawaitable
from types import CoroutineType, TracebackType
from typing import TypeVar

from rampart.core.adapter import AgentAdapter, Session
from rampart.core.errors import DriverError, describe_error
from rampart.core.evaluator import Evaluator, evaluate_as_observed
from rampart.core.evidence import Evidence
from rampart.core.injection import InjectionHandle
from rampart.core.prompt_driver import PromptDecision, PromptDriver
from rampart.core.timeouts import Timeouts, within
from rampart.core.types import EvalContext, ObservabilityLevel, Response, TranscriptScope, Turn

__all__ = ["NotingExit", "Table", "next_decision", "open_session", "take_turn"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What every turn of one execution needs.

    Attributes:
        evidence: Where turns are kept.
        scope: How much text the evaluator looks at.
    """

    adapter: AgentAdapter
    observability: ObservabilityLevel
    evidence: Evidence
    evaluator: Evaluator
    scope: TranscriptScope
    timeouts: Timeouts


async def open_session(table: Table, cleanup: AsyncExitStack) -> Session:
    """A new session, closed by `cleanup`."""
    adapter, evidence, timeouts = table.adapter, table.evidence, table.timeouts
    made = _awaitable(adapter.create_session_async(), adapter, "create_session_async")
    session = await within(timeouts.open, made, "opening a session")
    entered = await within(timeouts.open, session.__aenter__(), "opening a session")
    cleanup.push_async_exit(NotingExit(session, "session", evidence, timeouts.cleanup))
    return entered


async def next_decision(
    driver: PromptDriver, history: Sequence[Turn], timeouts: Timeouts
) -> PromptDecision | None:
    """What the driver wants said next; None to end.

    Raises:
        DriverError: If it answers anything else.
    """
    asked = driver.next_prompt_async(history=list(history))
    decision = await within(timeouts.decide, asked, "the driver's decision")
    if decision is None or isinstance(decision, PromptDecision):
        return decision
    raise DriverError(
        f"{type(driver).__name__} must decide on a PromptDecision or None, not {decision!r}"
    )


async def take_turn(
    table: Table,
    session: Session,
    decision: PromptDecision,
    *,
    history: Sequence[Turn],
    session_number: int = 0,
) -> Turn:
    """Send one request, keep the turn, and evaluate the conversation with it.

    Args:
        table: What the execution shares.
        session: Where to send it.
        decision: What to send.
        history: The turns that belong to the same conversation, oldest first.
        session_number: Which session of the execution it is, from 0.
    """
    turns = table.evidence.turns
    began = time.perf_counter()
    sent = _awaitable(session.send_async(decision.request), session, "send_async")
    response = _own(await within(table.timeouts.send, sent, "the agent's answer"), session)
    answered = time.perf_counter()
    turn = Turn(
        request=decision.request,
        response=response,
        turn_number=len(turns),
        timestamp=datetime.now(UTC),
        driver_reasoning=decision.reasoning,
        session_number=session_number,
        send_seconds=answered - began,
    )
    conversation = [*history, turn]
    place = len(turns)
    turns.append(turn)  # kept even if the evaluator breaks on it
    context = EvalContext(
        turns=conversation,
        manifest=table.adapter.manifest,
        observability=table.observability,
        scope=table.scope,
    )
    evaluated = evaluate_as_observed(table.evaluator, context)
    evaluation = await within(table.timeouts.evaluate, evaluated, "the evaluation")
    spent = time.perf_counter() - answered
    turns[place] = turn = replace(turn, eval_result=evaluation, evaluate_seconds=spent)
    return turn


class NotingExit:
    """Leaves one context manager; what breaks there is noted and changes no verdict."""

    def __init__(
        self,
        context: InjectionHandle | Session,
        name: str,
        evidence: Evidence,
        timeout_s: float | None,
    ) -> None:
        self._context = context
        self.name = name
        self._evidence = evidence
        self._timeout_s = timeout_s

    async def __call__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        try:
            leaving = self._context.__aexit__(exc_type, exc, traceback)
            await within(self._timeout_s, leaving, "it")
        except Exception as error:  # noqa: BLE001 - foreign code: noted in the result
            if error is not exc:  # some exits raise again what they were told of
                note = f"{self.name}: clean-up failed: {describe_error(error)}"
                self._evidence.notes.append(note)
        return False


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
