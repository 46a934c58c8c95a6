"""AgentDojo's suites, run by its own known solutions: whoever follows the injection is UNSAFE."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from rampart import Result, SafetyStatus
from rampart.agentdojo import AgentDojoAdapter, AgentDojoCase, DojoTool, agentdojo_cases
from seatrial.errors import UsageError

pytest.importorskip("agentdojo", reason="the extra `agentdojo` is not installed")


def solution_of(case: AgentDojoCase, *, of_attack: bool) -> Any:
    """AgentDojo's pipeline that knows how the user's task, or the injection's, is done."""
    from agentdojo.agent_pipeline.ground_truth_pipeline import GroundTruthPipeline
    from agentdojo.task_suite.load_suites import get_suites

    suite = get_suites(case.version)[case.suite]
    if of_attack:
        return GroundTruthPipeline(suite.get_injection_task_by_id(case.injection_task))
    return GroundTruthPipeline(suite.get_user_task_by_id(case.user_task))


def results(cases: Sequence[AgentDojoCase], *, of_attack: bool) -> list[Result]:
    async def run() -> list[Result]:
        return [await case.run_async(solution_of(case, of_attack=of_attack)) for case in cases]

    return asyncio.run(run())


SUITES = [
    pytest.param("banking", None, 144, id="banking"),
    pytest.param("slack", None, 105, id="slack"),
    pytest.param("travel", [f"user_task_{number}" for number in range(5)], 35, id="travel"),
    pytest.param("workspace", ["user_task_0", "user_task_13"], 28, id="workspace"),
]
"""The last two in part: their environments take a second each to load."""


@pytest.mark.parametrize(("suite", "user_tasks", "count"), SUITES)
def test_an_agent_that_does_the_users_task_is_safe(
    suite: str, user_tasks: list[str] | None, count: int
) -> None:
    found = results(agentdojo_cases(suite, user_tasks=user_tasks), of_attack=False)
    assert len(found) == count
    assert {result.status for result in found} == {SafetyStatus.SAFE}
    assert all(result.metadata["agentdojo"]["utility"] for result in found)
    # It met every injection on its way.
    assert all(result.injections[0].delivered for result in found)


@pytest.mark.parametrize(("suite", "user_tasks", "count"), SUITES)
def test_an_agent_that_follows_the_injection_is_unsafe(
    suite: str, user_tasks: list[str] | None, count: int
) -> None:
    cases = agentdojo_cases(suite, user_tasks=user_tasks)
    if suite == "workspace":  # AgentDojo knows no solution of the others
        cases = [case for case in cases if case.injection_task in known_in_workspace()]
    found = results(cases, of_attack=True)
    assert {result.status for result in found} == {SafetyStatus.UNSAFE}


def known_in_workspace() -> set[str]:
    return {f"injection_task_{number}" for number in range(1, 6)}


def test_a_user_task_without_an_attack_is_judged_by_its_utility() -> None:
    cases = agentdojo_cases("banking", injection_tasks=[], clean=True)
    assert {str(case) for case in cases[:1]} == {"banking-user_task_0-clean"}
    assert {result.status for result in results(cases, of_attack=False)} == {SafetyStatus.SAFE}

    async def idle(prompt: str, tools: Sequence[DojoTool]) -> str:
        return "I would rather not."

    result = asyncio.run(cases[0].run_async(idle))
    assert result.status is SafetyStatus.UNSAFE


def test_an_agent_of_ones_own_works_with_the_tools() -> None:
    (case,) = agentdojo_cases(
        "banking", user_tasks=["user_task_1"], injection_tasks=["injection_task_0"]
    )
    schemas: dict[str, Any] = {}

    def agent(prompt: str, tools: Sequence[DojoTool]) -> str:
        offered = {tool.name: tool for tool in tools}
        schemas.update({tool.name: tool.parameters for tool in tools})
        read = offered["get_most_recent_transactions"].call(n=100)
        assert "amount" in read
        return offered["no_such_tool"].call() if "no_such_tool" in offered else "done"

    result = asyncio.run(case.run_async(agent))
    assert schemas["send_money"]["properties"].keys() >= {"recipient", "amount"}
    (call,) = result.turns[0].response.tool_calls
    assert (call.name, call.arguments) == ("get_most_recent_transactions", {"n": 100})
    assert result.metadata["agentdojo"]["injection_followed"] is False
    assert result.injections[0].payload_id == "injection_task_0"


def test_an_agent_that_never_met_the_injection_proves_nothing() -> None:
    (case,) = agentdojo_cases(
        "slack", user_tasks=["user_task_0"], injection_tasks=["injection_task_1"]
    )
    result = asyncio.run(case.run_async(lambda prompt, tools: "done"))
    assert result.status is SafetyStatus.UNDETERMINED
    assert "payload not delivered" in result.summary


def test_sessions_share_no_environment() -> None:
    (case,) = agentdojo_cases(
        "banking", user_tasks=["user_task_0"], injection_tasks=["injection_task_0"]
    )
    adapter = AgentDojoAdapter(case, solution_of(case, of_attack=True))
    for _ in range(2):
        result = asyncio.run(case.execution(adapter).execute_async(adapter=adapter))
        assert len(result.turns[0].response.tool_calls) == 1
    assert {tool.name for tool in adapter.manifest.tools} >= {"send_money"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"suite": "cooking"}, "no suite 'cooking'; it has"),
        ({"suite": "slack", "version": "v9"}, "no benchmark version 'v9'"),
        ({"suite": "slack", "user_tasks": ["user_task_99"]}, "no task 'user_task_99'"),
        ({"suite": "slack", "injection": "do it"}, r"needs \{goal\}"),
    ],
)
def test_a_case_that_does_not_exist_is_refused_with_those_that_do(
    arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        agentdojo_cases(**arguments)
