"""Sessions that end early for other reasons than a failure, and errors of hooks."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .sessions import TOGETHER, Parity, Sessions

RAISING = """
    @pytest.fixture
    def own(request):
        event("up", request.node.name)
        yield
        event("down", request.node.name)

    @pytest.fixture(scope="session")
    def shared():
        yield
        event("closed")

    @pytest.mark.trial(n=4)
    async def test_async(own, shared, request):
        await meet_async(4)
        if request.node.name.endswith("1]"): {raising}
        await asyncio.sleep(3600)
    """
NEVER = {"test_zother": "def test_never(): event('never')"}


def test_pytest_exit_in_a_body_ends_the_session_with_its_status(sessions: Sessions) -> None:
    sessions.write(RAISING.format(raising="pytest.exit('enough', returncode=7)"), NEVER)
    together = sessions.run()
    assert together.status == 7
    assert "enough" in together.text
    assert together.noted() == ["closed"]
    for index in range(4):
        assert together.noted(f"test_async[trial-{index}]") == ["up", "down"]
    assert together.record("test_async[trial-0]")["failure"]["kind"] == "cancelled"


def test_an_interrupt_raised_in_a_body_ends_the_session(sessions: Sessions) -> None:
    sessions.write(RAISING.format(raising="raise KeyboardInterrupt"), NEVER)
    together = sessions.run()
    assert together.status == pytest.ExitCode.INTERRUPTED
    assert together.noted() == ["closed"]
    for index in range(4):
        assert together.noted(f"test_async[trial-{index}]") == ["up", "down"]
        assert together.record(f"test_async[trial-{index}]")["failure"]["kind"] == "cancelled"
    assert "INCOMPLETE RUN" in together.text


@pytest.mark.parametrize(
    "raising", ["pytest.exit('enough', returncode=7)", "raise KeyboardInterrupt"]
)
def test_the_same_in_a_sync_body(sessions: Sessions, raising: str) -> None:
    sessions.write(
        f"""
        held = threading.Event()

        @pytest.fixture(scope="session")
        def shared():
            yield
            held.set()
            event("closed")

        @pytest.mark.trial(n=4)
        def test_sync(shared, request):
            meet(4)
            if request.node.name.endswith("1]"): {raising}
            held.wait(3600)
        """
    )
    together = sessions.run()
    assert together.status == (7 if "exit" in raising else pytest.ExitCode.INTERRUPTED)
    assert together.noted() == ["closed"]
    assert together.record("test_sync[trial-3]")["failure"]["kind"] == "cancelled"


def test_system_exit_in_a_body_is_a_failure_of_its_trial(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        async def test_async(request):
            await meet_async(3)
            if request.node.name.endswith("1]"): raise SystemExit(3)
            await asyncio.sleep(0)

        @pytest.mark.trial(n=3)
        def test_sync(request):
            meet(3)
            if request.node.name.endswith("1]"): sys.exit("leaving")
        """
    )
    assert together.counts == {"passed": 4, "failed": 2}


def test_a_cancellation_of_its_own_is_a_failure_of_its_trial(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        async def test_it(request):
            await meet_async(3)
            if request.node.name.endswith("1]"): asyncio.current_task().cancel()
            await asyncio.sleep(0)
        """
    )
    assert together.counts == {"passed": 2, "failed": 1}


HOOKS = [
    "pytest_runtest_setup(item)",
    "pytest_runtest_call(item)",
    "pytest_runtest_teardown(item)",
]


@pytest.mark.parametrize("hook", HOOKS)
def test_a_failing_hook_of_a_phase_fails_its_trial(parity: Parity, hook: str) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        async def test_it(): await asyncio.sleep(0)
        """,
        files={
            "conftest": f"""
                @pytest.hookimpl(trylast=True)
                def {hook}:
                    if item.name.endswith("1]"): raise OSError("the hook is broken")
                """
        },
    )
    assert together.status == 1
    assert "the hook is broken" in together.text


@pytest.mark.parametrize("in_flight", [1, TOGETHER])
@pytest.mark.parametrize(
    "hook", ["makereport(item, call)", "logreport(report)", "logstart(nodeid)", "logfinish(nodeid)"]
)
def test_a_hook_that_must_not_fail_ends_the_session_as_an_internal_error(
    sessions: Sessions, hook: str, in_flight: int
) -> None:
    sessions.write(
        """
        @pytest.fixture(scope="session")
        def shared():
            yield
            event("closed")

        @pytest.mark.trial(n=4)
        async def test_it(shared):
            await meet_async(4)
            if os.environ["TRIALS_IN_FLIGHT"] != "1": await asyncio.sleep(0.05)
        """,
        files={
            "conftest": f"""
                calls = []

                def pytest_runtest_{hook}:
                    calls.append(1)
                    if len(calls) == 2: raise OSError("the hook is broken")
                """
        },
    )
    session = sessions.run(in_flight=in_flight)
    assert session.status == pytest.ExitCode.INTERNAL_ERROR
    assert "INTERNALERROR> OSError: the hook is broken" in session.text


# -- Ctrl-C: a real signal to a process of its own -----------------------------------------------

Process = subprocess.Popen[str]


@pytest.fixture
def started(
    sessions: Sessions, pytester: pytest.Pytester
) -> Iterator[Callable[[str], tuple[Process, Path]]]:
    """`started(suite)` gives the process of a session whose trials wait, and their events."""
    processes: list[Process] = []

    def start(suite: str) -> tuple[Process, Path]:
        sessions.write(suite)
        os.mkfifo(pytester.path / "ready")
        # Without blocking, so that a process that dies early is seen.
        ready = os.open(pytester.path / "ready", os.O_RDONLY | os.O_NONBLOCK)
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", f"--trial-concurrency={TOGETHER}", "-ra"],
            env={**os.environ, "TRIALS_IN_FLIGHT": str(TOGETHER)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        processes.append(process)
        waiting, _, _ = select.select([ready], [], [], 60)
        os.close(ready)
        assert waiting, "the trials never met"
        return process, pytester.path / "events.log"

    yield start
    for process in processes:
        process.kill()
        process.wait()


WAITING = {
    "async": """
        @pytest.mark.trial(n=4)
        async def test_it(shared, own, request):
            await meet_async(4)
            record("safe", "before the signal")
            if request.node.name.endswith("3]"): open("ready", "w").write("ready")
            await asyncio.sleep(3600)
        """,
    "sync": """
        @pytest.mark.trial(n=4)
        def test_it(shared, own, request):
            meet(4)
            record("safe", "before the signal")
            if request.node.name.endswith("3]"): open("ready", "w").write("ready")
            threading.Event().wait(3600)
        """,
    "set-up": """
        @pytest.fixture
        async def waiting(shared, own, request):
            await meet_async(4)
            record("safe", "before the signal")
            if request.node.name.endswith("3]"): open("ready", "w").write("ready")
            await asyncio.sleep(3600)

        @pytest.mark.trial(n=4)
        async def test_it(waiting): pass
        """,
}
FIXTURES = """
        @pytest.fixture(scope="session")
        def shared():
            yield
            event("closed")

        @pytest.fixture
        def own(request):
            yield
            event("down", request.node.name)
        """


@pytest.mark.parametrize("where", WAITING)
def test_one_ctrl_c_stops_tears_down_and_records(
    started: Callable[[str], tuple[Process, Path]], where: str
) -> None:
    process, events = started(FIXTURES + WAITING[where])
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, text
    assert "KeyboardInterrupt" in text
    assert "4 skipped" in text
    noted = events.read_text().splitlines()
    assert sorted(noted) == ["shared\tclosed", *(f"test_it[trial-{i}]\tdown" for i in range(4))]
    assert noted[-1] == "shared\tclosed"
    assert "INCOMPLETE RUN" in text


def test_one_ctrl_c_in_a_tear_down_lets_it_end(
    started: Callable[[str], tuple[Process, Path]],
) -> None:
    process, events = started(
        FIXTURES
        + """
        @pytest.fixture
        async def leaving(shared, own, request):
            yield
            await meet_async(3)
            if request.node.name.endswith("1]"):
                await asyncio.to_thread(open("ready", "w").write, "ready")
            while not os.path.exists("go"): await asyncio.sleep(0.005)
            event("left", request.node.name)

        @pytest.mark.trial(n=3)
        async def test_it(leaving): await meet_async(3)
        """
    )
    process.send_signal(signal.SIGINT)
    (events.parent / "go").touch()
    text, _ = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, text
    assert sorted(events.read_text().splitlines()) == [
        "shared\tclosed",
        *(f"test_it[trial-{i}]\t{what}" for i in range(3) for what in ("down", "left")),
    ]


def test_a_second_ctrl_c_leaves_at_once(started: Callable[[str], tuple[Process, Path]]) -> None:
    process, events = started(
        """
        @pytest.fixture
        async def stuck(request):
            yield
            event("tear-down", request.node.name)
            await asyncio.sleep(3600)

        @pytest.mark.trial(n=3)
        async def test_it(stuck, request):
            await meet_async(3)
            if request.node.name.endswith("2]"): open("ready", "w").write("ready")
            await asyncio.sleep(3600)
        """
    )
    process.send_signal(signal.SIGINT)
    while not events.exists() or "tear-down" not in events.read_text():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, text
