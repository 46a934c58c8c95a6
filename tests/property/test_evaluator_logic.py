"""The laws of three-valued logic, on real compositions under random observability."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rampart import (
    BaseEvaluator,
    Channel,
    EvalContext,
    EvalOutcome,
    EvalResult,
    ObservabilityLevel,
    Request,
    Response,
    Turn,
)
from rampart.core.evaluator import evaluate_as_observed
from seatrial.event_loop import run_on_own_loop


class Leaf(BaseEvaluator):
    def __init__(self, outcome: EvalOutcome, requires: frozenset[Channel]) -> None:
        self._outcome, self.requires = outcome, requires

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        return EvalResult(outcome=self._outcome)


channels = st.frozensets(st.sampled_from(Channel))
leaves = st.builds(Leaf, st.sampled_from(EvalOutcome), channels)
evaluators: st.SearchStrategy[BaseEvaluator] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda a: ~a, inner),
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
    ),
    max_leaves=6,
)
levels = st.sampled_from([None, *ObservabilityLevel])


def context(level: ObservabilityLevel | None) -> EvalContext:
    turn = Turn(request=Request(prompt="?"), response=Response(text="x"))
    return EvalContext(turns=[turn], observability=level)


def outcome(evaluator: BaseEvaluator, level: ObservabilityLevel | None) -> EvalOutcome:
    return run_on_own_loop(evaluate_as_observed(evaluator, context(level))).outcome


@given(a=evaluators, b=evaluators, level=levels)
def test_de_morgan_holds(
    a: BaseEvaluator, b: BaseEvaluator, level: ObservabilityLevel | None
) -> None:
    assert outcome(~(a & b), level) is outcome(~a | ~b, level)
    assert outcome(~(a | b), level) is outcome(~a & ~b, level)


@given(a=evaluators, b=evaluators, level=levels)
def test_order_does_not_matter(
    a: BaseEvaluator, b: BaseEvaluator, level: ObservabilityLevel | None
) -> None:
    assert outcome(a & b, level) is outcome(b & a, level)
    assert outcome(a | b, level) is outcome(b | a, level)


@given(a=evaluators, b=evaluators, c=evaluators, level=levels)
def test_and_distributes_over_or_and_grouping_does_not_matter(
    a: BaseEvaluator, b: BaseEvaluator, c: BaseEvaluator, level: ObservabilityLevel | None
) -> None:
    assert outcome(a & (b | c), level) is outcome((a & b) | (a & c), level)
    assert outcome(a & (b & c), level) is outcome((a & b) & c, level)
    assert outcome(a | (b | c), level) is outcome((a | b) | c, level)


@given(a=evaluators, level=levels)
def test_double_negation_and_repetition_change_nothing(
    a: BaseEvaluator, level: ObservabilityLevel | None
) -> None:
    assert outcome(~~a, level) is outcome(a, level)
    assert outcome(a & a, level) is outcome(a | a, level) is outcome(a, level)


@given(a=evaluators, level=st.sampled_from(ObservabilityLevel))
def test_seeing_less_never_turns_one_certainty_into_the_other(
    a: BaseEvaluator, level: ObservabilityLevel
) -> None:
    seen_all = outcome(a, ObservabilityLevel.TOOL_AND_SIDE_EFFECTS)
    assert outcome(a, level) in (seen_all, EvalOutcome.UNDETERMINED)
