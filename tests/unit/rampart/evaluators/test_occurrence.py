from __future__ import annotations

from typing import Any

import pytest

from rampart import (
    EvalContext,
    EvalOutcome,
    EvalResult,
    Request,
    Response,
    SideEffect,
    SideEffectOccurred,
    ToolCall,
    ToolCalled,
    Turn,
)

D, N, U = EvalOutcome.DETECTED, EvalOutcome.NOT_DETECTED, EvalOutcome.UNDETERMINED


def conversation(*turns: list[tuple[str, dict[str, Any]]]) -> EvalContext:
    """Each turn with its tool calls, which are its side effects too."""
    return EvalContext(
        turns=[
            Turn(
                request=Request(prompt="?"),
                response=Response(
                    text="x",
                    tool_calls=[ToolCall(name=name, arguments=values) for name, values in calls],
                    side_effects=[SideEffect(kind=name, details=values) for name, values in calls],
                ),
            )
            for calls in turns
        ]
    )


async def evaluate(evaluator: ToolCalled | SideEffectOccurred, context: EvalContext) -> EvalResult:
    return await evaluator.evaluate_async(context=context)


BOTH = pytest.mark.parametrize("kind", [ToolCalled, SideEffectOccurred])


@BOTH
@pytest.mark.asyncio
async def test_any_turn_counts(kind: type[ToolCalled]) -> None:
    context = conversation([("send", {"to": "me"})], [])
    result = await evaluate(kind("send"), context)
    assert (result.outcome, result.evidence) == (D, ["send({'to': 'me'})"])
    assert (await evaluate(kind("Send"), context)).outcome is N
    assert (await evaluate(kind("send"), conversation([]))).outcome is N
    assert (await evaluate(kind("send"), conversation())).outcome is N


@BOTH
@pytest.mark.asyncio
async def test_all_predicates_must_hold_on_one_occurrence(kind: type[ToolCalled]) -> None:
    context = conversation(
        [("send", {"to": "me", "cc": "you"}), ("send", {"to": "evil", "cc": "nobody"})]
    )
    assert (await evaluate(kind("send", to="me", cc="you"), context)).outcome is D
    assert (await evaluate(kind("send", to="me", cc="nobody"), context)).outcome is N
    result = await evaluate(kind("send", to=lambda value: "evil" in value), context)
    assert result.evidence == ["send({'to': 'evil', 'cc': 'nobody'})"]


@BOTH
@pytest.mark.asyncio
async def test_a_missing_value_reads_as_none_and_what_cannot_take_it_is_not_met(
    kind: type[ToolCalled],
) -> None:
    context = conversation([("send", {})])
    assert (await evaluate(kind("send", to=lambda value: value is None), context)).outcome is D
    assert (await evaluate(kind("send", to=None), context)).outcome is D
    assert (await evaluate(kind("send", to=lambda value: "evil" in value), context)).outcome is N


@BOTH
@pytest.mark.asyncio
async def test_a_predicate_that_breaks_on_a_value_cannot_tell_unless_another_matches(
    kind: type[ToolCalled],
) -> None:
    evaluator = kind("send", to=lambda value: "evil" in value)
    result = await evaluate(evaluator, conversation([("send", {"to": 5})]))
    assert result.outcome is U
    assert result.rationale.startswith("send: the predicate on to broke: TypeError")
    both = conversation([("send", {"to": 5}), ("send", {"to": "evil"})])
    assert (await evaluate(evaluator, both)).outcome is D


@pytest.mark.asyncio
async def test_predicates_may_have_any_name() -> None:
    context = conversation([("send", {"tool_name": 1, "self": 2, "context": 3})])
    evaluator = ToolCalled("send", tool_name=1, self=2, context=3)
    assert (await evaluate(evaluator, context)).outcome is D


@pytest.mark.asyncio
async def test_evidence_is_bounded_and_survives_a_broken_repr() -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    result = await evaluate(ToolCalled("send"), conversation([("send", {"body": "x" * 10**6})]))
    assert len(result.evidence[0]) < 1100
    result = await evaluate(ToolCalled("send"), conversation([("send", {"body": Hostile()})]))
    assert result.evidence == ["send(<dict: RuntimeError: no>)"]


async def _async_predicate(value: object) -> bool:
    return True


@BOTH
@pytest.mark.parametrize(
    ("name", "predicates", "error", "message"),
    [
        ("", {}, ValueError, "needs a name; it is empty"),
        (5, {}, TypeError, "needs a name first, not 5"),
        ("send", {"to": _async_predicate}, TypeError, "predicate to must answer at once"),
    ],
)
def test_what_could_never_match_is_refused(
    kind: type[ToolCalled],
    name: Any,
    predicates: dict[str, object],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        kind(name, **predicates)


def test_an_occurrence_reads_like_its_source() -> None:
    assert repr(ToolCalled("send", to="me")) == "ToolCalled('send', to='me')"
