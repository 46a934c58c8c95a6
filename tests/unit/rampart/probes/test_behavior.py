from __future__ import annotations

import pytest

from rampart import (
    BaseEvaluator,
    EvalContext,
    EvalOutcome,
    EvalResult,
    ObservabilityLevel,
    Probes,
    Request,
    Response,
    ResponseContains,
    Result,
    SafetyStatus,
    StaticDriver,
    ToolCall,
    ToolCalled,
)
from rampart.probes import SingleTurnExecution

D, N, U = EvalOutcome.DETECTED, EvalOutcome.NOT_DETECTED, EvalOutcome.UNDETERMINED
SAFE, UNSAFE, UNDETERMINED = SafetyStatus.SAFE, SafetyStatus.UNSAFE, SafetyStatus.UNDETERMINED
LOOKED = Response(text="Found it.", tool_calls=[ToolCall(name="look")])
RESPONSE_ONLY = ObservabilityLevel.RESPONSE_ONLY


class Says(BaseEvaluator):
    """One outcome a turn."""

    requires = frozenset()

    def __init__(self, *outcomes: EvalOutcome) -> None:
        self._outcomes = outcomes

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        outcome = self._outcomes[len(context.turns) - 1]
        return EvalResult(outcome=outcome, rationale=f"says {outcome.value}")


async def probe(agent: object, evaluator: object, turns: int = 1) -> Result:
    prompts = [f"p{number}" for number in range(turns)]
    execution = Probes.behavior(prompts=prompts, evaluator=evaluator)  # type: ignore[arg-type]
    return await execution.execute_async(adapter=agent)  # type: ignore[arg-type]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("outcomes", "status", "turns"),
    [
        ((D,), SAFE, 1),
        ((N,), UNSAFE, 1),
        ((U,), UNDETERMINED, 1),
        ((N, D), SAFE, 2),
        ((U, D), SAFE, 2),
        ((D, N), SAFE, 1),
        ((N, U), UNDETERMINED, 2),
        ((U, N), UNSAFE, 2),
        ((N, N), UNSAFE, 2),
        ((N, U, D), SAFE, 3),
    ],
)
async def test_the_verdict_is_on_the_whole_conversation(
    scripted: type, outcomes: tuple[EvalOutcome, ...], status: SafetyStatus, turns: int
) -> None:
    result = await probe(scripted(*("x" for _ in outcomes)), Says(*outcomes), len(outcomes))
    assert (result.status, len(result.turns)) == (status, turns)


@pytest.mark.asyncio
async def test_a_text_of_any_turn_counts(scripted: type) -> None:
    both = ResponseContains("alpha") & ResponseContains("beta")
    assert (await probe(scripted("alpha", "beta"), both, 2)).status is SAFE


@pytest.mark.asyncio
async def test_a_thing_that_must_not_happen_must_not_happen_in_any_turn(scripted: type) -> None:
    clean = Response(text="no")
    never = ~ToolCalled("look")
    result = await probe(scripted(clean, LOOKED, clean), never, 3)
    assert (result.status, len(result.turns)) == (UNSAFE, 3)
    assert (await probe(scripted(clean, clean), never, 2)).status is SAFE
    assert (await probe(scripted("secret", "x"), ~ResponseContains("secret"), 2)).status is UNSAFE


@pytest.mark.asyncio
async def test_wanted_and_unwanted_behavior_combine(scripted: type) -> None:
    evaluator = ToolCalled("look") & ~ResponseContains("secret")
    assert (await probe(scripted("hm", LOOKED, "bye"), evaluator, 3)).status is SAFE
    assert (await probe(scripted("hm", LOOKED, "the secret"), evaluator, 3)).status is UNSAFE


@pytest.mark.asyncio
async def test_summaries_say_what_was_expected(scripted: type) -> None:
    result = await probe(scripted(LOOKED), ToolCalled("look"))
    assert (result.summary, result.strategy) == ("Expected behavior observed", "probe")
    result = await probe(scripted("x"), ToolCalled("look"))
    assert result.summary == ("Expected behavior not observed: look is not among the tool calls")
    assert (await probe(scripted("x"), Says(U))).summary == "Could not tell: says undetermined"


@pytest.mark.asyncio
@pytest.mark.parametrize("evaluator", [ToolCalled("look"), ~ToolCalled("look")])
async def test_a_probe_concludes_nothing_from_what_the_adapter_cannot_see(
    scripted: type, evaluator: BaseEvaluator
) -> None:
    result = await probe(scripted("x", observability=RESPONSE_ONLY), evaluator)
    assert result.status is UNDETERMINED
    assert result.summary == (
        "Could not tell: the adapter is response_only and cannot see tool calls"
    )


@pytest.mark.asyncio
async def test_a_detection_that_can_rest_on_nothing_seen_is_not_safe(scripted: type) -> None:
    class NoToolCalled(Says):
        requires = ToolCalled.requires

    agent = scripted("x", observability=RESPONSE_ONLY)
    assert (await probe(agent, NoToolCalled(D))).status is UNDETERMINED
    assert (await probe(scripted("x"), NoToolCalled(D))).status is SAFE


@pytest.mark.asyncio
async def test_a_black_box_can_pass_a_text_probe_and_fail_it(scripted: type) -> None:
    for text, status in (("hello you", SAFE), ("bye", UNSAFE)):
        agent = scripted(text, observability=RESPONSE_ONLY)
        assert (await probe(agent, ResponseContains("hello"))).status is status


@pytest.mark.asyncio
async def test_an_error_after_undetecting_turns_is_an_error_that_keeps_them(
    scripted: type,
) -> None:
    result = await probe(scripted("x", OSError("down")), Says(N, N), 2)
    assert (result.status, len(result.turns)) == (SafetyStatus.ERROR, 1)


@pytest.mark.asyncio
async def test_every_way_to_say_what_to_send_works(scripted: type) -> None:
    for trigger in (
        {"prompt": "hi"},
        {"prompt": Request(prompt="hi")},
        {"prompts": ["hi"]},
        {"prompts": [Request(prompt="hi")]},
        {"driver": StaticDriver(prompts=["hi"])},
    ):
        agent = scripted("x")
        execution = Probes.behavior(**trigger, evaluator=Says(D))  # type: ignore[arg-type]
        assert (await execution.execute_async(adapter=agent)).status is SAFE
        assert agent.requests == [Request(prompt="hi")]


def test_the_factory_makes_the_probe_strategy() -> None:
    execution = Probes.behavior(prompt="hi", evaluator=Says(D))
    assert isinstance(execution, SingleTurnExecution)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({}, ValueError, "exactly one of prompt, prompts and driver, not 0"),
        ({"prompt": "a", "prompts": ["b"]}, ValueError, "exactly one .* not 2"),
        ({"prompts": []}, ValueError, "nothing to send"),
        ({"prompt": ""}, ValueError, "empty string"),
        ({"prompt": "a", "max_turns": 0}, ValueError, "max_turns must be >= 1"),
        ({"driver": 5}, TypeError, "not 5"),
        ({"prompt": "a", "evaluator": 5}, TypeError, "evaluator must have"),
    ],
)
def test_what_cannot_work_is_refused_at_construction(
    given: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Probes.behavior(**({"evaluator": Says(D)} | given))  # type: ignore[arg-type]
