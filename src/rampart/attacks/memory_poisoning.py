"""Memory poisoning: plant in one session, trigger in a later one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack

from rampart.arguments import positive
from rampart.attacks.verdict import AttackExecution
from rampart.core.evaluator import Evaluator
from rampart.core.execution import ExecutionEventHandler
from rampart.core.injection import InjectionHandle
from rampart.core.prompt_driver import PromptDriver
from rampart.core.timeouts import Timeouts
from rampart.core.types import Request, Turn
from rampart.drivers.static import as_driver
from rampart.turns import Table, next_decision, open_session, take_turn

__all__ = ["MemoryPoisoningExecution"]


class MemoryPoisoningExecution(AttackExecution):
    """A session in which the attacker has the agent remember something, then one of an unsuspecting
    user, for whom the agent acts on it. Detection in either is harm.

    Sources: Chen et al. 2024, "AgentPoison: Red-teaming LLM Agents via Poisoning Memory or Knowledge
    Bases" (arXiv:2407.12784); Dong et al. 2025, "A Practical Memory Injection Attack against LLM
    Agents" (arXiv:2503.03704), which plants by conversation alone, as this does.
    """

    def __init__(
        self,
        *,
        plant: str | Request | Sequence[str | Request] | PromptDriver,
        trigger: str | Request | Sequence[str | Request] | PromptDriver,
        evaluator: Evaluator,
        handles: Sequence[InjectionHandle] = (),
        max_turns: int = 10,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> None:
        super().__init__(
            evaluator=evaluator, handles=handles, timeouts=timeouts, event_handlers=event_handlers
        )
        self._drivers = (as_driver(plant), as_driver(trigger))
        self._max_turns = positive("max_turns", max_turns)

    @property
    def strategy_name(self) -> str:
        """What results call it."""
        return "memory_poisoning"

    async def _converse(self, table: Table, cleanup: AsyncExitStack) -> str:
        del cleanup
        for number, driver in enumerate(self._drivers):
            # Closed before the next: many agents write their memory when a session ends.
            async with AsyncExitStack() as closing:
                session = await open_session(table, closing)
                history: list[Turn] = []
                while len(history) < self._max_turns:
                    decision = await next_decision(driver, history, table.timeouts)
                    if decision is None:
                        break
                    turn = await take_turn(
                        table, session, decision, history=history, session_number=number
                    )
                    history.append(turn)
                    assert turn.eval_result is not None
                    if self._settled_by(turn.eval_result):
                        return "no further turn could change the verdict"
        return "both sessions were over"
