"""Time limits of the parts of an execution."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rampart import Attacks, Response, SafetyStatus, ToolCalled
from rampart.core.timeouts import Timeouts, within


async def forever() -> None:
    await asyncio.Event().wait()


@pytest.mark.asyncio
async def test_what_takes_too_long_is_cancelled_and_named() -> None:
    cancelled = asyncio.Event()

    async def slow() -> None:
        try:
            await forever()
        finally:
            cancelled.set()

    with pytest.raises(TimeoutError, match=r"the answer took longer than 0\.01 s"):
        await within(0.01, slow(), "the answer")
    assert cancelled.is_set()


@pytest.mark.asyncio
async def test_what_is_in_time_gives_its_result_or_its_own_error() -> None:
    async def step(count: int) -> int:
        for _ in range(count):
            await asyncio.sleep(0)
        if count == 2:
            raise ValueError("its own")
        return count

    assert await within(60, step(0), "it") == 0
    assert await within(60, step(3), "it") == 3
    with pytest.raises(ValueError, match="its own"):
        await within(60, step(2), "it")
    assert await within(None, step(1), "it") == 1


@pytest.mark.asyncio
async def test_a_timeout_of_its_own_is_not_ours() -> None:
    async def own() -> None:
        await asyncio.sleep(0)
        raise TimeoutError("the socket's")

    with pytest.raises(TimeoutError, match="the socket's"):
        await within(60, own(), "it")


@pytest.mark.asyncio
async def test_code_inside_can_catch_what_is_raised_where_it_waits() -> None:
    async def stubborn() -> str:
        try:
            await forever()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            return "late"
        return "never"

    task = asyncio.ensure_future(within(60, stubborn(), "it"))
    await asyncio.sleep(0)
    task.cancel()
    assert await task == "late"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("part", "words"),
    [("send", "the agent's answer"), ("open", "opening a session"), ("evaluate", "evaluation")],
)
async def test_a_part_that_hangs_ends_the_execution_as_an_error(
    scripted: type, part: str, words: str
) -> None:
    agent = scripted("a")
    evaluator: Any = ToolCalled("send")

    async def hangs(*_: object, **__: object) -> None:
        await forever()

    if part == "send":
        session = await agent.create_session_async()
        session.send_async = hangs

        async def create_session_async() -> object:
            return session

        agent.create_session_async = create_session_async
    elif part == "open":
        agent.create_session_async = hangs
    else:
        evaluator.evaluate_async = hangs
    attack = Attacks.xpia(trigger="go", evaluator=evaluator, timeouts=Timeouts(**{part: 0.01}))
    result = await attack.execute_async(adapter=agent)
    assert result.status is SafetyStatus.ERROR
    assert words in result.summary
    assert result.summary.startswith("TimeoutError: ")
    assert result.ended.startswith("it broke: ")
    # What was seen before is kept.
    assert len(result.turns) == (1 if part == "evaluate" else 0)


@pytest.mark.asyncio
async def test_a_clean_up_that_hangs_is_noted_and_changes_no_verdict(
    scripted: type, noted_handle: type
) -> None:
    async def hangs(*_: object) -> None:
        await forever()

    class Hanging(noted_handle):  # type: ignore[misc,valid-type]
        __aexit__ = hangs

    handle = Hanging("a", [])
    attack = Attacks.xpia(
        inject=handle,
        trigger="go",
        evaluator=ToolCalled("send"),
        timeouts=Timeouts(cleanup=0.01),
    )
    result = await attack.execute_async(adapter=scripted(Response(text="no")))
    assert result.status is SafetyStatus.SAFE
    assert "surface a: clean-up failed: TimeoutError: it took longer than 0.01 s" in result.notes


@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan")])
def test_a_limit_that_is_none_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="timeout 'send': expected seconds above 0"):
        Timeouts(send=value)


@pytest.mark.parametrize("value", ["3", True])
def test_a_limit_that_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="timeout 'ready': expected seconds or None"):
        Timeouts(ready=value)  # type: ignore[arg-type]
