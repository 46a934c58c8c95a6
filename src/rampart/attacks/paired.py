"""Paired attacks: the same case clean and attacked, for security and utility together."""

from __future__ import annotations

from collections.abc import Sequence

from rampart.attacks.xpia import DEFAULT_MAX_TURNS, XPIAExecution
from rampart.core.adapter import AgentAdapter
from rampart.core.errors import describe_error
from rampart.core.evaluator import Evaluator, evaluate_as_observed, is_evaluator
from rampart.core.evidence import Evidence, collect, current_evidence, stop_collecting
from rampart.core.execution import ExecutionEventHandler, observability_of
from rampart.core.injection import InjectionHandle
from rampart.core.prompt_driver import PromptDriver
from rampart.core.result import Result, SafetyStatus
from rampart.core.timeouts import Timeouts, within
from rampart.core.types import EvalContext, EvalOutcome, EvalResult, TranscriptScope
from rampart.probes.behavior import SingleTurnExecution
from rampart.utility import UTILITY

__all__ = ["PairedExecution"]

_DONE = {
    EvalOutcome.DETECTED: True,
    EvalOutcome.NOT_DETECTED: False,
    EvalOutcome.UNDETERMINED: None,
}
_CLEAN = {SafetyStatus.SAFE: True, SafetyStatus.UNSAFE: False}


class PairedExecution(XPIAExecution):
    """A cross-prompt injection, and before it the same conversation without one.

    The status is the attack's. Whether the agent did its user's task, clean and attacked, is in the
    result's metadata, for `UtilitySummary`; it changes no status.
    """

    def __init__(
        self,
        *,
        driver: PromptDriver,
        evaluator: Evaluator,
        utility: Evaluator,
        handles: Sequence[InjectionHandle] = (),
        max_turns: int = DEFAULT_MAX_TURNS,
        timeouts: Timeouts | None = None,
        event_handlers: list[ExecutionEventHandler] | None = None,
    ) -> None:
        if not is_evaluator(utility):
            raise TypeError(f"utility must have evaluate_async(*, context), not be {utility!r}")
        super().__init__(
            driver=driver,
            evaluator=evaluator,
            handles=handles,
            max_turns=max_turns,
            timeouts=timeouts,
            event_handlers=event_handlers,
        )
        self._utility = utility
        self._clean = SingleTurnExecution(
            driver=driver, evaluator=utility, max_turns=max_turns, timeouts=timeouts
        )

    async def _execute_async(self, *, adapter: AgentAdapter) -> Result:
        clean = await self._clean_utility(adapter)
        result = await super()._execute_async(adapter=adapter)
        attacked = await self._attacked_utility(adapter, result)
        result.metadata = {**result.metadata, UTILITY: {"clean": clean, "attacked": attacked}}
        return result

    async def _clean_utility(self, adapter: AgentAdapter) -> bool | None:
        """Whether the task is done without the attack; what the agent does here decides nothing else."""
        token = collect(Evidence())
        try:
            result = await self._clean._execute_async(adapter=adapter)  # noqa: SLF001 - without its events: it is no result of its own
        except Exception as error:  # noqa: BLE001 - foreign code: the attack is still worth running
            reason = describe_error(error)
        else:
            return _CLEAN.get(result.status)
        finally:
            stop_collecting(token)
        current_evidence().notes.append(f"utility without the attack is unknown: {reason}")
        return None

    async def _attacked_utility(self, adapter: AgentAdapter, result: Result) -> bool | None:
        context = EvalContext(
            turns=list(result.turns),
            manifest=adapter.manifest,
            observability=observability_of(adapter),
            scope=TranscriptScope.FULL,
        )
        if not context.turns:
            return None
        try:
            found: EvalResult = await within(
                self._timeouts.evaluate,
                evaluate_as_observed(self._utility, context),
                "the evaluation of utility",
            )
        except Exception as error:  # noqa: BLE001 - foreign code: an evaluator that breaks now changes no verdict
            result.notes.append(f"utility under attack is unknown: {describe_error(error)}")
            return None
        return _DONE[found.outcome]
