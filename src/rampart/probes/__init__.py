"""Probes: an ordinary user asks, and the agent should behave."""

from __future__ import annotations

from collections.abc import Sequence

from rampart.core.evaluator import Evaluator
from rampart.core.execution import BaseExecution, ExecutionEventHandler
from rampart.core.prompt_driver import PromptDriver
from rampart.core.timeouts import Timeouts
from rampart.core.types import Request
from rampart.drivers.static import as_driver
from rampart.probes.behavior import DEFAULT_MAX_TURNS, SingleTurnExecution

__all__ = ["Probes", "SingleTurnExecution"]


class Probes:
    """Makes probes. To run one: `await probe.execute_async(adapter=...)`."""

    @staticmethod
    def behavior(
        *,
        prompt: str | Request | None = None,
        prompts: Sequence[str | Request] | None = None,
        driver: PromptDriver | None = None,
        evaluator: Evaluator,
        max_turns: int = DEFAULT_MAX_TURNS,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """Ask the agent and expect a behavior; see `SingleTurnExecution` for several turns.

        Args:
            prompt: The one thing to say; or
            prompts: what to say turn by turn; or
            driver: who decides what to say.
            evaluator: Detects the wanted behavior.
            max_turns: Turns after which the probe gives up; at least 1.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.

        Raises:
            ValueError: If not exactly one of prompt, prompts and driver is given, it is empty,
                or `max_turns` is below 1.
            TypeError: If an argument is of the wrong kind.
        """
        given = [trigger for trigger in (prompt, prompts, driver) if trigger is not None]
        if len(given) != 1:
            raise ValueError(
                f"a probe needs exactly one of prompt, prompts and driver, not {len(given)}"
            )
        return SingleTurnExecution(
            driver=as_driver(given[0]),
            evaluator=evaluator,
            max_turns=max_turns,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )
