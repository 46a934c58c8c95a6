"""Evaluators, and their composition in sound three-valued logic.

An evaluator says whether it detected something, not whether that is good. `a & b`, `a | b` and
`~a` follow Kleene's strong logic of indeterminacy (Kleene 1952, Introduction to Metamathematics,
section 64): UNDETERMINED operands make the whole undetermined only where they could change it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Protocol, runtime_checkable

from rampart.core.errors import EvaluatorError
from rampart.core.types import Channel, EvalContext, EvalOutcome, EvalResult

__all__ = ["BaseEvaluator", "Evaluator", "evaluate_as_observed", "is_evaluator"]


@runtime_checkable
class Evaluator(Protocol):
    """Anything that can judge a conversation."""

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        """Say what the conversation so far shows."""
        ...


def is_evaluator(value: object) -> bool:
    """Whether `value` can evaluate; a class that only its instances would suit cannot."""
    # Asking a protocol takes its time.
    return isinstance(value, BaseEvaluator) or (
        isinstance(value, Evaluator) and not isinstance(value, type)
    )


class BaseEvaluator(ABC):
    """An evaluator that composes with `&`, `|` and `~`.

    Attributes:
        requires: The channels without which "not detected" means nothing. Declare
            `frozenset({Channel.TEXT})` on an evaluator that only reads text. An evaluator that
            declares nothing (None) is taken to need tool calls: on an adapter that sees only
            responses, and has reported no tool call, its NOT_DETECTED counts as UNDETERMINED.
        detection_is_final: Whether no later turn can undo a detection. A probe then ends there.
    """

    requires: frozenset[Channel] | None = None
    detection_is_final: bool = True

    @abstractmethod
    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        """Say what the conversation so far shows.

        `DETECTED` should rest on something seen. What is detected by its absence is better
        written as `~` of its presence.
        """

    def __and__(self, other: Evaluator) -> BaseEvaluator:
        return _And(self, other) if is_evaluator(other) else NotImplemented

    def __rand__(self, other: Evaluator) -> BaseEvaluator:
        return _And(other, self) if is_evaluator(other) else NotImplemented

    def __or__(self, other: Evaluator) -> BaseEvaluator:
        return _Or(self, other) if is_evaluator(other) else NotImplemented

    def __ror__(self, other: Evaluator) -> BaseEvaluator:
        return _Or(other, self) if is_evaluator(other) else NotImplemented

    def __invert__(self) -> BaseEvaluator:
        return _Not(self)


async def evaluate_as_observed(evaluator: Evaluator, context: EvalContext) -> EvalResult:
    """Evaluate, and let nothing be concluded from a channel that nobody could see.

    NOT_DETECTED by an evaluator that needs an unseen channel becomes UNDETERMINED. DETECTED
    stays, marked with the unseen channels in which there was nothing it could have rested on.

    Raises:
        EvaluatorError: If the evaluator returned no EvalResult.
    """
    result = await evaluator.evaluate_async(context=context)
    if not isinstance(result, EvalResult):
        raise EvaluatorError(
            f"{type(evaluator).__name__}.evaluate_async must return an EvalResult, "
            f"not a {type(result).__name__}"
        )
    unseen = _unseen(evaluator, context, result.outcome)
    if not unseen:
        return result
    if result.outcome is EvalOutcome.NOT_DETECTED:
        names = " and ".join(sorted(unseen))
        return replace(
            result,
            outcome=EvalOutcome.UNDETERMINED,
            rationale=f"{names} not observed; what was observed: {result.rationale or 'nothing'}",
            unseen=result.unseen | unseen,
        )
    return replace(result, unseen=result.unseen | unseen)


def _unseen(evaluator: Evaluator, context: EvalContext, outcome: EvalOutcome) -> frozenset[Channel]:
    declared = evaluator.requires if isinstance(evaluator, BaseEvaluator) else None
    if declared is None and outcome is EvalOutcome.DETECTED:
        return frozenset()  # taken at its word: it detected something that it saw
    needed = frozenset({Channel.TOOL_CALLS}) if declared is None else map(Channel, declared)
    # Half a view does not meet a declared need. It meets a guessed one, and it can carry a
    # detection, although the adapter does not claim to see the channel.
    half_a_view_counts = declared is None or outcome is EvalOutcome.DETECTED
    return frozenset(
        channel
        for channel in needed
        if not context.sees(channel) and not (half_a_view_counts and context.has_observed(channel))
    )


def _is_final(evaluator: Evaluator) -> bool:
    return evaluator.detection_is_final if isinstance(evaluator, BaseEvaluator) else True


class _Pair(BaseEvaluator):
    requires = frozenset()  # each operand is asked, and answers, for itself
    symbol: str
    decisive: EvalOutcome  # what one operand alone decides
    otherwise: EvalOutcome  # what it takes both operands to say

    def __init__(self, left: Evaluator, right: Evaluator) -> None:
        self._left = left
        self._right = right
        self.detection_is_final = _is_final(left) and _is_final(right)

    def __repr__(self) -> str:
        return f"({self._left!r} {self.symbol} {self._right!r})"

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        """Ask the left operand, then the right one unless the left decided."""
        left = await evaluate_as_observed(self._left, context)
        if left.outcome is self.decisive:
            return left
        right = await evaluate_as_observed(self._right, context)
        for outcome in (self.decisive, EvalOutcome.UNDETERMINED, self.otherwise):
            deciding = [result for result in (left, right) if result.outcome is outcome]
            if deciding:
                return _joined(deciding)
        raise AssertionError(f"not an outcome: {left.outcome!r}, {right.outcome!r}")


class _And(_Pair):
    symbol = "&"
    decisive = EvalOutcome.NOT_DETECTED
    otherwise = EvalOutcome.DETECTED


class _Or(_Pair):
    symbol = "|"
    decisive = EvalOutcome.DETECTED
    otherwise = EvalOutcome.NOT_DETECTED


class _Not(BaseEvaluator):
    requires = frozenset()
    detection_is_final = False  # the operand may yet detect

    def __init__(self, operand: Evaluator) -> None:
        self._operand = operand

    def __repr__(self) -> str:
        return f"~{self._operand!r}"

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        """Detect what the operand does not; what it cannot tell stays untold."""
        result = await evaluate_as_observed(self._operand, context)
        if result.outcome is EvalOutcome.UNDETERMINED:
            return result
        flipped = EvalOutcome.NOT_DETECTED if result.detected else EvalOutcome.DETECTED
        return replace(result, outcome=flipped, rationale=f"NOT ({result.rationale})")


def _joined(results: list[EvalResult]) -> EvalResult:
    """One result for operands that agree; as sure as the least sure of them."""
    if len(results) == 1:
        return results[0]
    return EvalResult(
        outcome=results[0].outcome,
        confidence=min(result.confidence for result in results),
        evidence=[line for result in results for line in result.evidence],
        rationale="; ".join(result.rationale for result in results if result.rationale),
        unseen=frozenset().union(*(result.unseen for result in results)),
    )
