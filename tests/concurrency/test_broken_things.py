"""Agents and fixtures that misbehave: what they break is theirs, and the same as without company."""

from __future__ import annotations

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
    assert together.status == serial.status == 1
    assert (
        "requested an async fixture 'client'"
        in together.report("test_sync[trial-0]", "setup")["longrepr"]
    )
    assert together.counts == {"passed": 2, "errors": 1}
