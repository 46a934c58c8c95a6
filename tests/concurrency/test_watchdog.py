"""Who blocks all others is named, and what another plugin limits is limited per trial."""

from __future__ import annotations

import importlib

import pytest

from .sessions import Sessions

IMPATIENT = """
import functools
from seatrial.plugin.concurrency import section

section.watched = functools.partial(section.watched, after_s=0.2)
"""

UNTIL_TOLD = """
import time

def wait_until_told(config):
    told = config.pluginmanager.get_plugin("seatrial-concurrency").blocked
    end = time.monotonic() + 20
    while not told and time.monotonic() < end: time.sleep(0.01)
    assert told
"""


@pytest.fixture(autouse=True)
def _patience_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    section = importlib.import_module("seatrial.plugin.concurrency.section")
    monkeypatch.setattr(section, "watched", section.watched)


def test_an_async_trial_that_blocks_is_named_with_the_place(sessions: Sessions) -> None:
    sessions.write(
        UNTIL_TOLD
        + """
@pytest.mark.trial(n=3)
async def test_it(request):
    await meet_async(3)
    if "trial-1" in request.node.name: wait_until_told(request.config)
""",
        {"conftest": IMPATIENT},
    )
    session = sessions.run()
    (line,) = (line for line in session.lines if "has blocked" in line)
    assert line.startswith(
        "test_suite.py::test_it[trial-1] has blocked the 2 other trials in flight for 0.2 s, at "
    )
    assert "test_suite.py:" in line
    assert "in wait_until_told" in line
    assert "asyncio.to_thread()" in line
    assert session.counts == {"passed": 3}


def test_a_sync_fixture_of_an_async_trial_that_blocks_is_named(sessions: Sessions) -> None:
    sessions.write(
        UNTIL_TOLD
        + """
@pytest.fixture
def slow(request):
    if "trial-2" in request.node.name: wait_until_told(request.config)

@pytest.mark.trial(n=3)
async def test_it(slow): await meet_async(3)
""",
        {"conftest": IMPATIENT},
    )
    session = sessions.run()
    (line,) = (line for line in session.lines if "has blocked" in line)
    assert line.startswith("test_suite.py::test_it[trial-2] has blocked the 2 other trials")


def test_sync_trials_and_awaiting_ones_block_nobody(sessions: Sessions) -> None:
    sessions.write(
        """
        import time

        @pytest.mark.trial(n=2)
        def test_sync(): meet(2); time.sleep(0.5)

        @pytest.mark.trial(n=2)
        async def test_async(): await meet_async(2); await asyncio.sleep(0.5)
        """,
        {"conftest": IMPATIENT},
    )
    session = sessions.run()
    assert "has blocked" not in session.text
    assert session.counts == {"passed": 4}


def test_pytest_timeout_fails_the_trial_that_takes_too_long(sessions: Sessions) -> None:
    sessions.write(
        """
        never = threading.Event()

        @pytest.mark.timeout(0.3)
        @pytest.mark.trial(n=3, threshold=0.5)
        async def test_async(request):
            if "trial-1" in request.node.name: await asyncio.sleep(60)

        @pytest.mark.timeout(0.3)
        @pytest.mark.trial(n=3, threshold=0.5)
        def test_sync(request):
            if "trial-1" in request.node.name: never.wait(60)
        """
    )
    session = sessions.run()
    assert session.counts == {"passed": 4, "failed": 2}
    for name in ("test_async[trial-1]", "test_sync[trial-1]"):
        assert "Timeout (>SECONDS) from pytest-timeout." in session.report(name)["longrepr"]


def test_a_pytest_without_a_needed_part_runs_trials_one_at_a_time(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = importlib.import_module("seatrial.plugin.concurrency.probe")
    gone = ("_pytest.runner", "SetupState.gone")
    monkeypatch.setattr(probe, "_PARTS", (gone, *probe._PARTS))
    sessions.write(
        """
        @pytest.mark.trial(n=3)
        async def test_it(): await asyncio.sleep(0)
        """
    )
    session = sessions.run()
    assert session.counts == {"passed": 3}
    assert session.recording.most_in_flight == 1
    assert "trials ran one at a time: --trial-concurrency does not know this pytest" in session.text
    assert "which has no _pytest.runner.SetupState.gone" in session.text
