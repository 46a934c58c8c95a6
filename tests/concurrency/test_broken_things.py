"""Agents and fixtures that misbehave: what they break is theirs, and the same as without company."""

from __future__ import annotations

import os

import pytest

from seatrial.plugin.concurrency import event_loops

from .sessions import Sessions, SuiteSession

__all__: list[str] = []


def outcomes(session: SuiteSession) -> dict[str, list[str]]:
    """The outcome of each phase of every test."""
    return {
        nodeid: [report["outcome"] for report in reports]
        for nodeid, reports in session.recording.reports.items()
    }


def test_a_sync_trial_has_no_part_in_the_async_fixtures_that_a_neighbour_may_use(
    sessions: Sessions,
) -> None:
    sessions.write(
        """
        @pytest.fixture
        async def client():
            await asyncio.sleep(0)
            return "client"

        @pytest.mark.trial(n=2)
        async def test_async(client):
            assert client == "client"
            for _ in range(50): await asyncio.sleep(0)

        @pytest.mark.trial(n=1)
        def test_sync(client): assert client == "client"
        """
    )
    serial, together = sessions.both()
    assert outcomes(together) == outcomes(serial)
    # What pytest says of it differs between its versions.
    assert together.status == serial.status == 1
    assert [r["outcome"] for r in together.reports("test_sync[trial-0]")] != ["passed"] * 3


def test_an_agent_that_stops_the_event_loop_fails_its_own_trial_only(sessions: Sessions) -> None:
    sessions.write(
        """
        @pytest.mark.trial(n=3)
        async def test_neighbour():
            await meet_async(6, "all")
            for _ in range(20): await asyncio.sleep(0)

        @pytest.mark.trial(n=3)
        async def test_stops():
            await meet_async(6, "all")
            asyncio.get_running_loop().stop()
            await asyncio.sleep(0)

        @pytest.mark.trial(n=1)
        async def test_stops_as_it_ends(): asyncio.get_running_loop().stop()

        @pytest.fixture
        async def stopping():
            asyncio.get_running_loop().stop()
            await asyncio.sleep(0)

        @pytest.mark.trial(n=1)
        async def test_stops_in_a_fixture(stopping): pass
        """
    )
    serial, together = sessions.both()
    assert outcomes(together) == outcomes(serial)
    assert together.counts == {"passed": 4, "failed": 3, "errors": 1}
    for session in (serial, together):
        record = session.record("test_stops[trial-0]")
        assert "Event loop stopped before Future completed" in record["failure"]["message"]


@pytest.mark.parametrize("pause_s", ["0.01", "0"])
def test_a_trial_that_swallows_its_cancellation_does_not_keep_the_session_from_ending(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, pause_s: str
) -> None:
    monkeypatch.setattr(event_loops, "GRACE_S", 0.1)
    sessions.write(
        f"""
        async def swallow():
            while True:
                try: await asyncio.sleep({pause_s})
                except asyncio.CancelledError: pass

        @pytest.mark.trial(n=3)
        async def test_swallows():
            await swallow()

        @pytest.mark.trial(n=1)
        async def test_leaves_a_task():
            left = asyncio.create_task(swallow())
            await asyncio.sleep(0)

        @pytest.mark.trial(n=1)
        async def test_fails():
            for _ in range(20): await asyncio.sleep(0)
            assert False
        """
    )
    together = sessions.run("-x")
    assert together.status == 1
    assert together.record("test_swallows[trial-0]")["failure"]["kind"] == "cancelled"
    assert together.counts == {"passed": 1, "failed": 1, "skipped": 3}


def test_sync_trials_that_are_over_are_forgotten(sessions: Sessions) -> None:
    sessions.write(
        """
        import gc
        from seatrial.plugin.concurrency.item_thread import ItemThread

        @pytest.mark.trial(n=60)
        def test_it(): pass

        def test_after(request):
            gc.collect()
            threads = [known for known in gc.get_objects() if isinstance(known, ItemThread)]
            left = sum(known._slot.item.session is request.session for known in threads)
            assert left <= 20, (left, len(threads))
        """
    )
    assert sessions.run().counts == {"passed": 61}


def test_an_exception_that_cannot_be_read_fails_its_trial_only(sessions: Sessions) -> None:
    sessions.write(
        """
        class Unreadable(Exception):
            def __str__(self): raise SystemExit(9)

        @pytest.mark.trial(n=2)
        async def test_raises():
            await meet_async(4, "all")
            raise Unreadable

        @pytest.mark.trial(n=2)
        async def test_neighbour(): await meet_async(4, "all")
        """
    )
    serial, together = sessions.both()
    assert outcomes(together) == outcomes(serial)
    assert together.status == serial.status == 1
    assert together.counts == {"passed": 2, "failed": 2}
    message = together.record("test_raises[trial-0]")["failure"]["message"]
    assert message == "Unreadable: (its message could not be read: SystemExit)"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_leaves_a_sync_trial_ends_there(sessions: Sessions) -> None:
    sessions.write(
        """
        @pytest.mark.trial(n=3)
        def test_forks():
            meet(3)
            child = os.fork()
            if not child: raise ValueError("in the child")
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        """
    )
    together = sessions.run()
    assert together.counts == {"passed": 3}
