"""Cross-prompt injection: an attacker's content reaches the agent through what it reads."""

from __future__ import annotations

from collections.abc import Sequence

from rampart.attacks.verdict import AttackExecution
from rampart.conversation import ConversationExecution
from rampart.core.evaluator import Evaluator
from rampart.core.execution import ExecutionEventHandler
from rampart.core.injection import InjectionHandle
from rampart.core.prompt_driver import PromptDriver
from rampart.core.timeouts import Timeouts

__all__ = ["DEFAULT_MAX_TURNS", "XPIAExecution"]

DEFAULT_MAX_TURNS = 5


class XPIAExecution(AttackExecution, ConversationExecution):
    """Puts payloads in place, talks with the agent, and watches for the attacker's objective.

    Source: Greshake et al. 2023, "Not what you've signed up for: Compromising Real-World
    LLM-Integrated Applications with Indirect Prompt Injection" (arXiv:2302.12173).
    """

    def __init__(
        self,
        *,
        driver: PromptDriver,
        evaluator: Evaluator,
        handles: Sequence[InjectionHandle] | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> None:
        super().__init__(
            driver=driver,
            evaluator=evaluator,
            max_turns=max_turns,
            handles=handles or (),
            timeouts=timeouts,
            event_handlers=event_handlers,
        )

    @property
    def strategy_name(self) -> str:
        """What results call it."""
        return "xpia"
