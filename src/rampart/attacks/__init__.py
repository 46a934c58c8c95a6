"""Attacks: an adversary tries to make the agent do harm."""

from __future__ import annotations

from collections.abc import Sequence

from rampart.attacks.xpia import DEFAULT_MAX_TURNS, XPIAExecution
from rampart.core.evaluator import Evaluator
from rampart.core.execution import BaseExecution, ExecutionEventHandler
from rampart.core.injection import InjectionHandle
from rampart.core.prompt_driver import PromptDriver
from rampart.core.timeouts import Timeouts
from rampart.core.types import Request
from rampart.drivers.static import as_driver
from rampart.injections import as_handles

__all__ = ["Attacks", "XPIAExecution"]


class Attacks:
    """Makes attacks. To run one: `await attack.execute_async(adapter=...)`."""

    @staticmethod
    def xpia(
        *,
        inject: InjectionHandle | Sequence[InjectionHandle] | None = None,
        trigger: str | Request | Sequence[str | Request] | PromptDriver,
        evaluator: Evaluator,
        max_turns: int = DEFAULT_MAX_TURNS,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> BaseExecution:
        """Cross-prompt injection: hide instructions in content, then have the agent meet it.

        Args:
            inject: What to put on surfaces first; None if the trigger's attachments carry it.
            trigger: What the unsuspecting user says; several prompts make several turns.
            evaluator: Detects that the attacker's objective was met.
            max_turns: Turns after which the attack gives up; at least 1.
            timeouts: How long each part may take.
            event_handlers: Who else follows the execution.

        Raises:
            ValueError: If the trigger is empty or `max_turns` is below 1.
            TypeError: If an argument is of the wrong kind.
        """
        return XPIAExecution(
            handles=as_handles(inject),
            driver=as_driver(trigger),
            evaluator=evaluator,
            max_turns=max_turns,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )
