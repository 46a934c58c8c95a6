from __future__ import annotations

import pytest

from rampart import Request, Response, StaticDriver, Turn
from rampart.drivers.static import as_driver

TURN = Turn(request=Request(prompt="?"), response=Response(text="x"))


@pytest.mark.asyncio
async def test_prompts_are_sent_in_order_by_the_length_of_the_history() -> None:
    request = Request(prompt="b")
    driver = StaticDriver(prompts=["a", request])
    first, second, third = [await driver.next_prompt_async(history=[TURN] * n) for n in range(3)]
    assert first is not None
    assert second is not None
    assert (first.request, first.reasoning) == (Request(prompt="a"), "")
    assert second.request is request
    assert third is None


@pytest.mark.asyncio
async def test_a_driver_keeps_no_state_and_its_own_list() -> None:
    prompts = ["a"]
    driver = StaticDriver(prompts=prompts)
    prompts.append("b")
    for _ in range(2):
        assert await driver.next_prompt_async(history=[]) is not None
    assert await driver.next_prompt_async(history=[TURN]) is None


def test_what_is_left_is_known() -> None:
    driver = StaticDriver(prompts=["a", "b"])
    assert [driver.unsent([TURN] * n) for n in range(4)] == [2, 1, 0, 0]


@pytest.mark.parametrize(
    ("prompts", "error", "message"),
    [
        ([], ValueError, "prompts is empty"),
        (["a", ""], ValueError, r"prompt 1 is an empty string; .* Request\(prompt=''\)"),
        ("abc", TypeError, "must be a list of strings or Requests, not 'abc'"),
        (None, TypeError, "not None"),
        ([b"a"], TypeError, "prompt 0 must be a string or a Request, not b'a'"),
    ],
)
def test_what_cannot_be_sent_is_refused(
    prompts: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        StaticDriver(prompts=prompts)  # type: ignore[arg-type]


def test_a_driver_stands_for_itself() -> None:
    driver = StaticDriver(prompts=["a"])
    assert as_driver(driver) is driver
    with pytest.raises(TypeError, match="a trigger must be"):
        as_driver(StaticDriver)  # type: ignore[arg-type]
