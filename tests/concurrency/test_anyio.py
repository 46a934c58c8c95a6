"""anyio's own runner, tests and fixtures, with many trials in flight."""

from __future__ import annotations

import pytest

from .sessions import Parity, Sessions

pytest.importorskip("anyio")

ANYIO = """
import anyio
pytestmark = pytest.mark.anyio

@pytest.fixture(scope="module")
def anyio_backend(): return "asyncio"

@pytest.fixture(scope="module")
async def shared():
    event("shared up")
    async with anyio.create_task_group() as group:
        yield "shared"
        group.cancel_scope.cancel()
    event("shared down")

@pytest.fixture
async def own(request):
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 0)
        yield request.node.name
    event("own down", request.node.name)

@pytest.mark.trial(n=4)
async def test_trial(own, shared, request):
    await meet_async(4)
    await anyio.sleep(0)
    assert (own, shared) == (request.node.name, "shared")
    with pytest.raises(TimeoutError):
        with anyio.fail_after(0.001): await anyio.sleep(30)
    assert not request.node.name.endswith("3]"), "on purpose"

async def test_plain(own, shared): pass
"""


def test_anyio_trials_have_their_own_and_share_wider_fixtures(parity: Parity) -> None:
    together = parity(ANYIO)
    assert together.counts == {"passed": 4, "failed": 1}
    assert together.noted() == ["shared up", "shared down"]
    assert together.noted("test_trial[trial-1]") == ["own down"]
    assert together.recording.most_in_flight >= 4


def test_anyio_session_fixtures_serve_trials_of_all_modules(parity: Parity) -> None:
    test = """
        pytestmark = pytest.mark.anyio

        @pytest.mark.trial(n=3)
        async def test_it(client):
            await meet_async(3)
            event(client)
        """
    together = parity(
        test,
        files={
            "test_zother": test,
            "conftest": """
                @pytest.fixture(scope="session")
                def anyio_backend(): return "asyncio"

                @pytest.fixture(scope="session")
                async def client():
                    await asyncio.sleep(0)
                    yield "client"
                    event("closed")
                """,
        },
    )
    assert together.noted() == [*["client"] * 6, "closed"]


def test_on_another_async_library_trials_run_alone_and_the_summary_says_why(
    sessions: Sessions,
) -> None:
    pytest.importorskip("trio")
    sessions.write(
        """
        import anyio
        pytestmark = pytest.mark.anyio

        @pytest.mark.trial(n=2)
        async def test_it(anyio_backend_name): await anyio.sleep(0)
        """
    )
    together = sessions.run()
    assert together.counts == {"passed": 4}
    assert (
        "2 trials ran one at a time: runs on another async library than asyncio" in together.lines
    )


def test_trials_may_meet_through_anyios_own_primitives(parity: Parity) -> None:
    together = parity(
        """
        import anyio
        pytestmark = pytest.mark.anyio

        @pytest.fixture
        def anyio_backend(): return "asyncio"

        @pytest.mark.trial(n=3)
        async def test_it(request):
            send, receive = anyio.create_memory_object_stream(1)
            async with send, receive, anyio.create_task_group() as group:
                group.start_soon(send.send, request.node.name)
                await meet_async(3)
                assert await receive.receive() == request.node.name
            assert await anyio.to_thread.run_sync(threading.current_thread) is not None
            limiter = anyio.CapacityLimiter(1)
            async with limiter: await anyio.sleep(0)
        """
    )
    assert together.counts == {"passed": 3}
