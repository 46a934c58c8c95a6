from __future__ import annotations

import asyncio
import unittest
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest

import kensa.judge
from kensa.blame import is_judges_assertion
from kensa.judge import JudgeResult, judge, judge_async, set_judge_provider
from seatrial.snapshot import JsonObject

Body = Callable[[], object]

outage = JudgeResult(passed=False, reasoning="the judge is away", error=True)
negative = JudgeResult(passed=False, reasoning="too rude")
positive = JudgeResult(passed=True, reasoning="fine")


class Scripted:
    """Answers in turn, and remembers what it said."""

    def __init__(self) -> None:
        self.answers: list[JudgeResult] = []
        self.said: list[JsonObject] = []

    def judge(self, **question: Any) -> JudgeResult:
        result = self.answers.pop(0) if self.answers else outage
        self.said.append(result.to_dict())
        return result


@pytest.fixture
def scripted() -> Any:
    provider = Scripted()
    set_judge_provider(provider)
    yield provider
    set_judge_provider(None)


def blamed(body: Body, scripted: Scripted, *answers: JudgeResult) -> bool:
    """Whether the judge is blamed for what the body raised; by default each judgement fails."""
    scripted.answers = list(answers)
    try:
        body()
    except (AssertionError, pytest.fail.Exception) as error:
        return is_judges_assertion(error, scripted.said)
    raise RuntimeError("the body was to fail")


def polite(output: str) -> JudgeResult:
    return judge(output, "is polite")


always_polite = partial(judge, criteria="is polite")


def on_the_result() -> None:
    result = judge("out", "is polite")
    assert result.passed, result.reasoning


def on_the_call_itself() -> None:
    assert judge("out", "is polite").passed


def on_a_call_through_the_module() -> None:
    assert kensa.judge.judge("out", "is polite").passed


def on_a_call_over_several_lines() -> None:
    assert judge(
        "out",
        "is polite",
    ).passed


def on_a_helper_that_asks() -> None:
    assert polite("out").passed


def on_a_partial() -> None:
    assert always_polite("out").passed


def on_a_value_derived_from_it() -> None:
    result = judge("out", "is polite")
    verdict = result.passed
    good = verdict and True
    assert good


def on_a_value_from_a_helper() -> None:
    good = polite("out").passed
    assert good


def on_a_list_of_results() -> None:
    results = [judge(output, "is polite") for output in ("a", "b")]
    assert all(result.passed for result in results)


def on_one_of_a_pair() -> None:
    output, result = "out", judge("out", "is polite")
    assert output
    assert result.passed


def on_a_walrus() -> None:
    assert [result := judge("out", "is polite"), result.passed][1]


def on_an_attribute() -> None:
    class Holder:
        good = True

    holder = Holder()
    holder.good = judge("out", "is polite").passed
    assert holder.good


def by_pytest_fail_with_its_reasoning() -> None:
    result = judge("out", "is polite")
    if not result.passed:
        pytest.fail(result.reasoning)


def by_pytest_fail_with_other_words() -> None:
    result = judge("out", "is polite")
    if not result.passed:
        pytest.fail("not polite")


def by_raising() -> None:
    match judge("out", "is polite").passed:
        case False:
            raise AssertionError("not polite")


def by_an_unconditional_assert() -> None:
    result = judge("out", "is polite")
    while not result.passed:
        assert False, "not polite"  # noqa: B011, PT015 - a way in which people write it


def through_a_helper_that_gets_the_result() -> None:
    def check(result: JudgeResult) -> None:
        assert result.passed

    check(judge("out", "is polite"))


def through_a_helper_that_gets_the_verdict() -> None:
    def check(good: bool) -> None:
        assert good

    result = judge("out", "is polite")
    check(result.passed)


def through_unittest() -> None:
    result = judge("out", "is polite")
    unittest.TestCase().assertTrue(result.passed)  # noqa: PT009 - people do


JUDGES: list[Body] = [
    on_the_result,
    on_the_call_itself,
    on_a_call_through_the_module,
    on_a_call_over_several_lines,
    on_a_helper_that_asks,
    on_a_partial,
    on_a_value_derived_from_it,
    on_a_value_from_a_helper,
    on_a_list_of_results,
    on_one_of_a_pair,
    on_a_walrus,
    on_an_attribute,
    by_pytest_fail_with_its_reasoning,
    by_pytest_fail_with_other_words,
    by_raising,
    by_an_unconditional_assert,
    through_a_helper_that_gets_the_result,
    through_a_helper_that_gets_the_verdict,
    through_unittest,
]


@pytest.mark.parametrize("body", JUDGES)
def test_an_assertion_about_an_errored_judgement_is_the_judges(
    body: Body, scripted: Scripted
) -> None:
    assert blamed(body, scripted)


def on_the_output() -> None:
    output = "out"
    result = judge(output, "is polite")
    assert "refund" in output, result.reasoning


def on_the_output_in_a_branch() -> None:
    output = "out"
    result = judge(output, "is polite")
    if not result.passed:
        assert "refund" in output


def on_the_output_in_a_helper_that_has_the_result() -> None:
    def check(output: str, result: JudgeResult) -> None:
        assert "refund" in output

    check("out", judge("out", "is polite"))


def on_one_half_of_a_pair() -> None:
    output, result = "out", judge("out", "is polite")
    assert "refund" in output
    assert result


def by_pytest_fail_about_the_output() -> None:
    output = "out"
    judge(output, "is polite")
    if "refund" not in output:
        pytest.fail("no refund")


def through_a_helper_about_the_output() -> None:
    def check(output: str) -> None:
        assert "refund" in output

    judge("out", "is polite")
    check("out")


def on_another_attribute() -> None:
    class Holder:
        good = True
        output = "out"

    holder = Holder()
    holder.good = judge("out", "is polite").passed
    assert "refund" in holder.output


AGENTS: list[Body] = [
    on_the_output,
    on_the_output_in_a_branch,
    on_the_output_in_a_helper_that_has_the_result,
    on_one_half_of_a_pair,
    by_pytest_fail_about_the_output,
    through_a_helper_about_the_output,
    on_another_attribute,
]


@pytest.mark.parametrize("body", AGENTS)
def test_an_assertion_about_something_else_is_the_agents(body: Body, scripted: Scripted) -> None:
    assert not blamed(body, scripted)


def two_results() -> None:
    first = judge("out", "is polite")
    second = judge("out", "is true")
    assert second.passed, first.reasoning


def two_results_derived() -> None:
    first = judge("out", "is polite")
    second = judge("out", "is true")
    good = second.passed
    assert good, first.reasoning


def two_calls() -> None:
    judge("out", "is polite")
    assert judge("out", "is true").passed


def required() -> None:
    judge("out", "is polite")
    judge("out", "is true").require()


@pytest.mark.parametrize("body", [two_results, two_results_derived, two_calls, required])
def test_a_negative_after_an_outage_is_the_agents(body: Body, scripted: Scripted) -> None:
    assert not blamed(body, scripted, outage, negative)


@pytest.mark.parametrize("body", [two_results, two_results_derived, two_calls])
def test_an_outage_after_an_answer_is_the_judges(body: Body, scripted: Scripted) -> None:
    assert blamed(body, scripted, positive, outage)


def test_a_verdict_kept_from_a_name_used_again_is_the_judges(scripted: Scripted) -> None:
    def body() -> None:
        result = judge("out", "is polite")
        polite = result.passed
        result = judge("out", "is true")
        assert polite, result.reasoning

    assert blamed(body, scripted, outage, positive)


@pytest.mark.parametrize("body", JUDGES[:4])
def test_without_an_outage_nothing_is_the_judges(body: Body, scripted: Scripted) -> None:
    assert not blamed(body, scripted, negative, negative)


def test_a_test_without_source_is_given_the_benefit(scripted: Scripted) -> None:
    names = {"__name__": "generated", "judge": judge}
    exec("def body():\n    judge('out', 'c')\n    assert False\n", names)

    assert blamed(names["body"], scripted)  # type: ignore[arg-type]


def test_of_several_statements_on_a_line_the_assertion_is_the_one_that_failed(
    scripted: Scripted,
) -> None:
    def body() -> None:
        output = "out"; verdict = judge(output, "c"); assert verdict.passed  # fmt: skip  # noqa: E702

    assert blamed(body, scripted)


def test_an_error_that_was_never_raised_blames_nobody() -> None:
    assert not is_judges_assertion(AssertionError(), [outage.to_dict()])


def test_judgements_of_no_trial_are_none() -> None:
    assert not is_judges_assertion(AssertionError(), [])
    assert not is_judges_assertion(AssertionError())


def test_the_frames_of_the_runner_are_not_looked_at(scripted: Scripted) -> None:
    # Without source, so that a look at this frame would blame the judge.
    runner: dict[str, Any] = {"__name__": "_pytest.python"}
    exec(
        "def run(body, **arguments):\n"
        "    try:\n"
        "        body()\n"
        "    except AssertionError as error:\n"
        "        return error\n",
        runner,
    )

    error = runner["run"](on_the_output, verdict=outage)

    assert not is_judges_assertion(error, scripted.said)


# -- judgements that are awaited -----------------------------------------------------------

AsyncBody = Callable[[], Coroutine[Any, Any, object]]


async def polite_async(output: str) -> JudgeResult:
    return await judge_async(output, "is polite")


async def on_an_awaited_result() -> None:
    result = await judge_async("out", "is polite")
    assert result.passed, result.reasoning


async def on_an_awaited_call() -> None:
    assert (await judge_async("out", "is polite")).passed


async def on_an_awaited_call_through_the_module() -> None:
    assert (await kensa.judge.judge_async("out", "is polite")).passed


async def on_an_awaited_helper() -> None:
    assert (await polite_async("out")).passed


async def on_a_value_from_an_awaited_helper() -> None:
    good = (await polite_async("out")).passed
    assert good


async def on_gathered_results() -> None:
    results = await asyncio.gather(*(judge_async(text, "is polite") for text in ("a", "b")))
    assert all(result.passed for result in results)


async def on_a_result_within_a_time_limit() -> None:
    result = await asyncio.wait_for(judge_async("out", "is polite"), timeout=30)
    assert result.passed


async def on_a_task_of_a_group() -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(judge_async("out", "is polite"))
    result = asked.result()
    assert result.passed


async def on_a_result_from_a_thread() -> None:
    result = await asyncio.to_thread(judge, "out", "is polite")
    assert result.passed


async def on_the_sync_judge() -> None:
    result = judge("out", "is polite")
    assert result.passed


AWAITED_JUDGES: list[AsyncBody] = [
    on_an_awaited_result,
    on_an_awaited_call,
    on_an_awaited_call_through_the_module,
    on_an_awaited_helper,
    on_a_value_from_an_awaited_helper,
    on_gathered_results,
    on_a_result_within_a_time_limit,
    on_a_task_of_a_group,
    on_a_result_from_a_thread,
    on_the_sync_judge,
]


async def on_the_output_after_an_awaited_judge() -> None:
    output = "out"
    result = await judge_async(output, "is polite")
    assert "refund" in output, result.reasoning


async def on_the_output_after_gathered_judges() -> None:
    output = "out"
    await asyncio.gather(judge_async(output, "is polite"), judge_async(output, "is true"))
    assert "refund" in output


async def in_an_awaited_helper_about_the_output() -> None:
    async def check(output: str) -> None:
        assert "refund" in output

    await judge_async("out", "is polite")
    await check("out")


AWAITED_AGENTS: list[AsyncBody] = [
    on_the_output_after_an_awaited_judge,
    on_the_output_after_gathered_judges,
    in_an_awaited_helper_about_the_output,
]


async def awaited_blame(body: AsyncBody, scripted: Scripted, *answers: JudgeResult) -> bool:
    scripted.answers = list(answers)
    try:
        await body()
    except AssertionError as error:
        return is_judges_assertion(error, scripted.said)
    raise RuntimeError("the body was to fail")


@pytest.mark.asyncio
@pytest.mark.parametrize("body", AWAITED_JUDGES)
async def test_an_assertion_about_an_awaited_outage_is_the_judges(
    body: AsyncBody, scripted: Scripted
) -> None:
    assert await awaited_blame(body, scripted)


@pytest.mark.asyncio
@pytest.mark.parametrize("body", AWAITED_AGENTS)
async def test_an_assertion_about_something_else_after_it_is_the_agents(
    body: AsyncBody, scripted: Scripted
) -> None:
    assert not await awaited_blame(body, scripted)


@pytest.mark.asyncio
@pytest.mark.parametrize("body", AWAITED_JUDGES)
async def test_an_awaited_negative_is_the_agents(body: AsyncBody, scripted: Scripted) -> None:
    assert not await awaited_blame(body, scripted, negative, negative)
