from __future__ import annotations

import asyncio

import pytest

from rampart import AgentAdapter, InjectionHandle, Payload, PromptDriver, Session, Surface
from rampart.core.converter import PayloadConverter
from rampart.core.injection import sleep_until_ready
from rampart.drivers import StaticDriver
from seatrial.event_loop import run_on_own_loop


def test_plain_classes_conform(scripted: type, noted_handle: type) -> None:
    agent = scripted("x")
    assert isinstance(agent, AgentAdapter)
    assert isinstance(run_on_own_loop(agent.create_session_async()), Session)
    handle = noted_handle("a", [])
    assert isinstance(handle, InjectionHandle)

    class Wiki:
        def inject(self, *, payload: Payload) -> InjectionHandle:
            return handle

    class Shout:
        async def convert_async(self, *, payload: Payload) -> Payload:
            return Payload(content=payload.content.upper(), id=payload.id)

    assert isinstance(Wiki(), Surface)
    assert isinstance(Shout(), PayloadConverter)
    assert isinstance(StaticDriver(prompts=["x"]), PromptDriver)
    assert not isinstance(object(), (AgentAdapter, Session, InjectionHandle, PromptDriver))


@pytest.mark.asyncio
async def test_sleeping_until_ready_takes_as_long_as_it_is_told() -> None:
    ready = []

    async def surface(delay: float) -> None:
        await sleep_until_ready(delay)
        ready.append(delay)

    await asyncio.gather(surface(0.05), surface(0.0))
    assert ready == [0.0, 0.05]
