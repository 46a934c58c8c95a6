"""Behavioral probes: a user simply asks, and the agent does what it should, or does not."""

from __future__ import annotations

from rampart.conversation import ConversationExecution
from rampart.core.evaluator import BaseEvaluator, Evaluator
from rampart.core.execution import ExecutionEventHandler
from rampart.core.prompt_driver import PromptDriver
from rampart.core.result import SafetyStatus, resolve_as_probe
from rampart.core.timeouts import Timeouts
from rampart.core.types import EvalResult, TranscriptScope

__all__ = ["DEFAULT_MAX_TURNS", "SingleTurnExecution"]

DEFAULT_MAX_TURNS = 25


class SingleTurnExecution(ConversationExecution):
    """Talks with the agent and expects the wanted behavior somewhere in the conversation.

    After every turn the evaluator looks at the conversation so far as a whole, text evaluators
    at all responses in it. Its last evaluation is the verdict, read by `resolve_as_probe`:
    DETECTED is SAFE, NOT_DETECTED is UNSAFE, whatever earlier turns showed. So a later turn can
    still show the wanted behavior. The first detection that no later turn can undo ends the
    conversation; with `~` in the evaluator none is, and all prompts are sent.

    The name is older than the second turn.
    """

    scope = TranscriptScope.FULL

    def __init__(
        self,
        *,
        driver: PromptDriver,
        evaluator: Evaluator,
        max_turns: int = DEFAULT_MAX_TURNS,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> None:
        super().__init__(
            driver=driver,
            evaluator=evaluator,
            max_turns=max_turns,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )

    @property
    def strategy_name(self) -> str:
        """What results call it."""
        return "probe"

    def _settled_by(self, evaluation: EvalResult) -> bool:
        final = not isinstance(self._evaluator, BaseEvaluator) or self._evaluator.detection_is_final
        return evaluation.detected and final

    def _deciding(self, evaluations: list[EvalResult]) -> list[EvalResult]:
        return evaluations[-1:]

    def _resolve(self, deciding: list[EvalResult]) -> SafetyStatus:
        return resolve_as_probe(eval_results=deciding)

    def _describe(self, status: SafetyStatus, deciding: list[EvalResult]) -> str:
        if status is SafetyStatus.SAFE:
            return "Expected behavior observed"
        rationale = deciding[-1].rationale
        return f"Expected behavior not observed{f': {rationale}' if rationale else ''}"
