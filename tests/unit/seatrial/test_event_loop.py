"""Async code from sync code, the caller's own event loop untouched."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from seatrial.event_loop import run_on_own_loop


@pytest.fixture
def current_loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    asyncio.set_event_loop(None)
    loop.close()


async def running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_the_work_runs_on_a_new_loop_that_is_closed_afterwards(
    current_loop: asyncio.AbstractEventLoop,
) -> None:
    used = run_on_own_loop(running())

    assert used is not current_loop
    assert used.is_closed()


def test_the_current_loop_stays_current_and_open(current_loop: asyncio.AbstractEventLoop) -> None:
    run_on_own_loop(running())

    assert asyncio.get_event_loop_policy().get_event_loop() is current_loop
    assert not current_loop.is_closed()


def test_what_the_work_raises_passes_through() -> None:
    async def broken() -> None:
        raise ValueError("net down")

    with pytest.raises(ValueError, match="net down"):
        run_on_own_loop(broken())
