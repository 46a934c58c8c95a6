from __future__ import annotations

import itertools

import pytest

from rampart import (
    BaseEvaluator,
    Channel,
    EvalContext,
    EvalOutcome,
    EvalResult,
    EvaluatorError,
    ObservabilityLevel,
    Request,
    Response,
    SideEffect,
    ToolCall,
    Turn,
)
from rampart.core.evaluator import evaluate_as_observed

D, N, U = EvalOutcome.DETECTED, EvalOutcome.NOT_DETECTED, EvalOutcome.UNDETERMINED
RESPONSE_ONLY = ObservabilityLevel.RESPONSE_ONLY
TOOL_ONLY = ObservabilityLevel.TOOL_ONLY
ALL = ObservabilityLevel.TOOL_AND_SIDE_EFFECTS


class Says(BaseEvaluator):
    """Always says the same, and counts how often it was asked."""

    requires = frozenset({Channel.TEXT})

    def __init__(self, outcome: EvalOutcome, *, confidence: float = 1.0, name: str = "e") -> None:
        self.result = EvalResult(
            outcome=outcome, confidence=confidence, evidence=[name], rationale=f"says {name}"
        )
        self.asked = 0

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        self.asked += 1
        return self.result


class Undeclared(Says):
    requires = None


class NeedsTools(Says):
    requires = frozenset({Channel.TOOL_CALLS})


class NeedsEverything(Says):
    requires = frozenset(Channel)


class OnlyConforms:
    """No BaseEvaluator: it has just the method."""

    def __init__(self, outcome: EvalOutcome) -> None:
        self.outcome = outcome

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        return EvalResult(outcome=self.outcome)


def context(
    level: ObservabilityLevel | None = None, *, calls: int = 0, effects: int = 0
) -> EvalContext:
    response = Response(
        text="x",
        tool_calls=[ToolCall(name="t")] * calls,
        side_effects=[SideEffect(kind="s")] * effects,
    )
    turn = Turn(request=Request(prompt="?"), response=response)
    return EvalContext(turns=[turn], observability=level)


PAIRS = list(itertools.product(EvalOutcome, repeat=2))
OR = {
    (D, D): D,
    (D, N): D,
    (D, U): D,
    (N, D): D,
    (N, N): N,
    (N, U): U,
    (U, D): D,
    (U, N): U,
    (U, U): U,
}
AND = {(D, D): D, (D, N): N, (D, U): U, (N, D): N, (N, N): N, (N, U): N, (U, D): U, (U, N): N, (U, U): U}  # fmt: skip


@pytest.mark.asyncio
@pytest.mark.parametrize(("left", "right"), PAIRS)
async def test_composition_follows_the_strong_kleene_tables(
    left: EvalOutcome, right: EvalOutcome
) -> None:
    either = await (Says(left) | Says(right)).evaluate_async(context=context())
    both = await (Says(left) & Says(right)).evaluate_async(context=context())
    assert (either.outcome, both.outcome) == (OR[left, right], AND[left, right])


@pytest.mark.asyncio
@pytest.mark.parametrize(("left", "right"), PAIRS)
async def test_the_right_operand_is_asked_unless_the_left_one_decided(
    left: EvalOutcome, right: EvalOutcome
) -> None:
    for decided, compose in ((D, Says.__or__), (N, Says.__and__)):
        second = Says(right)
        await compose(Says(left), second).evaluate_async(context=context())
        assert second.asked == (0 if left is decided else 1)


@pytest.mark.asyncio
@pytest.mark.parametrize(("outcome", "flipped"), [(D, N), (N, D), (U, U)])
async def test_not_flips_what_is_known_and_leaves_the_unknown(
    outcome: EvalOutcome, flipped: EvalOutcome
) -> None:
    operand = Says(outcome, confidence=0.6)
    result = await (~operand).evaluate_async(context=context())
    assert result.outcome is flipped
    assert (result.confidence, result.evidence) == (0.6, ["e"])
    if outcome is U:
        assert result is operand.result
    else:
        assert result.rationale == "NOT (says e)"


@pytest.mark.asyncio
async def test_a_joint_result_carries_both_and_is_as_sure_as_the_less_sure() -> None:
    left, right = Says(D, confidence=0.9, name="a"), Says(D, confidence=0.4, name="b")
    result = await (left & right).evaluate_async(context=context())
    assert result.evidence == ["a", "b"]
    assert result.rationale == "says a; says b"
    assert result.confidence == 0.4


@pytest.mark.asyncio
async def test_a_result_that_one_operand_decides_is_that_operands() -> None:
    decisive = Says(N, confidence=0.7, name="b")
    assert await (Says(U) & decisive).evaluate_async(context=context()) is decisive.result


@pytest.mark.asyncio
async def test_an_evaluator_that_only_conforms_composes_on_either_side() -> None:
    for composed in (
        Says(N) | OnlyConforms(D),
        OnlyConforms(D) | Says(N),
        Says(D) & OnlyConforms(D),
        OnlyConforms(D) & Says(D),
    ):
        assert (await composed.evaluate_async(context=context())).outcome is D


@pytest.mark.parametrize("other", [5, None, "text", Says])
def test_what_cannot_evaluate_does_not_compose(other: object) -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        Says(D) | other  # type: ignore[operator]
    with pytest.raises(TypeError, match="unsupported operand"):
        other & Says(D)  # type: ignore[operator]


def test_compositions_read_like_their_source() -> None:
    class Named(Says):
        def __repr__(self) -> str:
            return str(self.result.evidence[0])

    a, b = Named(D, name="a"), Named(D, name="b")
    assert repr(~(a & b) | b) == "(~(a & b) | b)"


def test_a_detection_is_final_unless_a_not_may_undo_it() -> None:
    a, b = Says(D), Says(N)
    assert (a & b).detection_is_final
    assert (a | OnlyConforms(D)).detection_is_final
    assert not (~a).detection_is_final
    assert not (a & ~b).detection_is_final
    assert not (OnlyConforms(D) | ~b).detection_is_final


@pytest.mark.asyncio
async def test_an_evaluator_that_returns_something_else_is_named() -> None:
    class Broken(BaseEvaluator):
        async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
            return True  # type: ignore[return-value]

    with pytest.raises(EvaluatorError, match=r"Broken\.evaluate_async must return an EvalResult"):
        await evaluate_as_observed(Broken(), context())


@pytest.mark.asyncio
@pytest.mark.parametrize("level", [None, *ObservabilityLevel])
@pytest.mark.parametrize("outcome", EvalOutcome)
async def test_what_needs_only_text_is_believed_at_every_level(
    level: ObservabilityLevel | None, outcome: EvalOutcome
) -> None:
    evaluator = Says(outcome)
    assert await evaluate_as_observed(evaluator, context(level)) is evaluator.result


@pytest.mark.asyncio
async def test_not_detecting_in_an_unseen_channel_is_undetermined_and_says_so() -> None:
    result = await evaluate_as_observed(NeedsEverything(N), context(RESPONSE_ONLY))
    assert result.outcome is U
    assert result.unseen == {Channel.TOOL_CALLS, Channel.SIDE_EFFECTS}
    assert result.rationale.startswith("side effects and tool calls not observed")
    assert (await evaluate_as_observed(NeedsEverything(N), context(ALL))).outcome is N
    partly = await evaluate_as_observed(NeedsEverything(N), context(TOOL_ONLY))
    assert partly.unseen == {Channel.SIDE_EFFECTS}


@pytest.mark.asyncio
async def test_half_a_view_does_not_meet_a_declared_need() -> None:
    result = await evaluate_as_observed(NeedsTools(N), context(RESPONSE_ONLY, calls=1))
    assert result.outcome is U


@pytest.mark.asyncio
async def test_a_detection_stays_one_marked_unless_it_can_rest_on_something() -> None:
    blind = await evaluate_as_observed(NeedsTools(D), context(RESPONSE_ONLY))
    assert (blind.outcome, blind.unseen) == (D, {Channel.TOOL_CALLS})
    seen = await evaluate_as_observed(NeedsTools(D), context(RESPONSE_ONLY, calls=1))
    assert (seen.outcome, seen.unseen) == (D, frozenset())


@pytest.mark.asyncio
@pytest.mark.parametrize("evaluator", [Undeclared, OnlyConforms])
async def test_an_evaluator_that_declares_nothing_is_taken_to_need_tool_calls(
    evaluator: type[Undeclared | OnlyConforms],
) -> None:
    async def outcome_at(level: ObservabilityLevel, calls: int, said: EvalOutcome) -> EvalOutcome:
        return (await evaluate_as_observed(evaluator(said), context(level, calls=calls))).outcome

    assert await outcome_at(RESPONSE_ONLY, 0, N) is U
    assert await outcome_at(RESPONSE_ONLY, 1, N) is N
    assert await outcome_at(TOOL_ONLY, 0, N) is N
    assert await outcome_at(RESPONSE_ONLY, 0, D) is D


@pytest.mark.asyncio
async def test_an_unknown_channel_is_an_error() -> None:
    class Wrong(Says):
        requires = frozenset({"telepathy"})  # type: ignore[assignment]

    with pytest.raises(ValueError, match="telepathy"):
        await evaluate_as_observed(Wrong(N), context(RESPONSE_ONLY))


@pytest.mark.asyncio
async def test_blindness_passes_through_composition_only_where_it_matters() -> None:
    blind, text = NeedsTools(N), Says(N)
    at = context(RESPONSE_ONLY)
    assert (await evaluate_as_observed(blind & text, at)).outcome is N
    assert (await evaluate_as_observed(blind | text, at)).outcome is U
    assert (await evaluate_as_observed(~blind, at)).outcome is U
    assert (await evaluate_as_observed(~blind | ~text, at)).outcome is D
