"""Attempts: one prompt in a session of its own, and how near it came."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from rampart.core.adapter import Session
from rampart.core.prompt_driver import PromptDecision
from rampart.core.types import EvalOutcome, EvalResult, Request, Turn
from rampart.turns import Table, open_session, take_turn

__all__ = ["Attempt", "attempt_alone", "nearness"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One prompt and what came of it.

    Attributes:
        turn: With its evaluation.
        nearness: How near it came to the objective, from 0 to 1; 1 is there.
    """

    prompt: str
    turn: Turn
    nearness: float

    @property
    def succeeded(self) -> bool:
        """Whether the objective was detected."""
        return self.turn.eval_result is not None and self.turn.eval_result.detected


async def attempt_alone(
    table: Table, prompt: str, *, session_number: int, reasoning: str = ""
) -> Attempt:
    """Say one thing in a session that remembers nothing."""
    async with AsyncExitStack() as cleanup:
        session = await open_session(table, cleanup)
        return await attempt_in(table, session, prompt, (), session_number, reasoning)


async def attempt_in(
    table: Table,
    session: Session,
    prompt: str,
    history: Sequence[Turn],
    session_number: int,
    reasoning: str = "",
) -> Attempt:
    """Say one thing in a session that is open."""
    decision = PromptDecision(request=Request(prompt=prompt), reasoning=reasoning)
    turn = await take_turn(table, session, decision, history=history, session_number=session_number)
    assert turn.eval_result is not None
    return Attempt(prompt=prompt, turn=turn, nearness=nearness(turn.eval_result))


def nearness(evaluation: EvalResult) -> float:
    """An evaluation as a score from 0 to 1, for strategies that climb: sure detections are 1, sure
    non-detections 0, and what nobody could tell lies between.
    """
    if evaluation.outcome is EvalOutcome.DETECTED:
        return 0.5 + evaluation.confidence / 2
    if evaluation.outcome is EvalOutcome.NOT_DETECTED:
        return 0.5 - evaluation.confidence / 2
    return 0.5
