"""The scripted agent that users test their own parts with."""

from __future__ import annotations

import pytest

from rampart import (
    Attacks,
    ObservabilityLevel,
    Probes,
    Response,
    ResponseContains,
    SafetyStatus,
    ToolCall,
    ToolCalled,
)
from rampart.testing import ScriptedAdapter


@pytest.mark.asyncio
async def test_a_script_is_followed_from_its_beginning_in_every_session() -> None:
    agent = ScriptedAdapter(["a", Response(text="b"), lambda request: f"c {request.prompt}"])
    for _ in range(2):
        probe = Probes.behavior(prompts=["1", "2", "3"], evaluator=ResponseContains("c 3"))
        assert (await probe.execute_async(adapter=agent)).status is SafetyStatus.SAFE
    assert [[r.prompt for r in session.requests] for session in agent.sessions] == [
        ["1", "2", "3"],
        ["1", "2", "3"],
    ]
    assert [request.prompt for request in agent.requests] == ["1", "2", "3"] * 2
    assert not any(session.is_open for session in agent.sessions)


@pytest.mark.asyncio
async def test_a_single_step_is_repeated() -> None:
    agent = ScriptedAdapter(Response(text="done", tool_calls=[ToolCall(name="send")]))
    attack = Attacks.xpia(trigger=["a", "b"], evaluator=ToolCalled("delete"))
    result = await attack.execute_async(adapter=agent)
    assert [turn.response.text for turn in result.turns] == ["done", "done"]


@pytest.mark.asyncio
async def test_an_exception_is_raised_and_the_end_of_the_script_is_an_error() -> None:
    agent = ScriptedAdapter([OSError("down")])
    probe = Probes.behavior(prompt="p", evaluator=ResponseContains("x"))
    assert (await probe.execute_async(adapter=agent)).summary == "OSError: down"
    agent = ScriptedAdapter(["one"])
    probe = Probes.behavior(prompts=["1", "2"], evaluator=ResponseContains("x"))
    result = await probe.execute_async(adapter=agent)
    assert "the script has ended after 1 turns" in result.summary


def test_it_claims_what_it_is_told_to() -> None:
    agent = ScriptedAdapter("a", observability=ObservabilityLevel.RESPONSE_ONLY)
    assert agent.observability_profile is ObservabilityLevel.RESPONSE_ONLY
    assert agent.manifest.name == "scripted"


@pytest.mark.parametrize(
    ("steps", "error"), [([], ValueError), ([3], TypeError), (None, TypeError)]
)
def test_a_script_that_means_nothing_is_refused(steps: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        ScriptedAdapter(steps)  # type: ignore[arg-type]
