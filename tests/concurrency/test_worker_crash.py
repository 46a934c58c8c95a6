"""Workers that die with trials in flight: who is blamed, and what it costs the others."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter

import pytest

from seatrial.journal import read_journal
from seatrial.outcome import FailureOwner
from seatrial.plugin.concurrency.xdist_crash import CrashBlame

from .sessions import Sessions, SuiteSession

pytest.importorskip("xdist")
execnet = pytest.importorskip("execnet")

needs_sigkill = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")

COMMON = """
    import signal, time
    from pathlib import Path

    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0"))
    is_first = bool(worker) and int(worker.removeprefix("gw")) < count  # it replaces none
    here = Path(__file__).parent
    crashed = here / "crashed"

    @pytest.fixture
    def trial(request):
        number = int("".join(c for c in request.node.name.rpartition("trial")[2] if c.isdigit()))
        event("began", str(number))
        return number

    @pytest.fixture
    def again(trial):
        began = here / f"began-{trial}"
        before = began.exists()
        began.touch()
        return before

    def die():
        crashed.touch()
        os._exit(1)

    async def beside_others(parties, again=False):
        # Those that run again meet nobody.
        if is_first and not again: await meet_async(parties, "here")

    async def until(known):
        give_up = time.monotonic() + 20
        while not known.exists() and time.monotonic() < give_up: await asyncio.sleep(0.01)
    """
GUILTY = """
    @pytest.mark.trial(n=20, threshold=0.9)
    async def test_it(trial, again):
        await beside_others(10, again)
        if trial in {guilty}: die()
        record("safe")
    """


def blamed(session: SuiteSession) -> dict[int, int]:
    """How often each trial of `test_it` that is an error was begun; each must be a crash."""
    found = {}
    for nodeid, record in session.recording.run["records"].items():
        if record["outcome"] == "error":
            assert record["failure"]["owner"] == FailureOwner.INFRASTRUCTURE
            assert record["failure"]["kind"] == "crash"
            number = nodeid.rpartition("trial-")[2].partition("]")[0]
            found[int(number)] = session.noted(number).count("began")
    return found


def outcomes(session: SuiteSession) -> Counter[str]:
    """How many trials ended how."""
    return Counter(record["outcome"] for record in session.recording.run["records"].values())


@pytest.mark.parametrize("mode", ["load", "loadscope", "loadfile", "loadgroup", "worksteal"])
def test_a_worker_that_dies_is_blamed_on_the_trial_that_killed_it(
    sessions: Sessions, pytester: pytest.Pytester, mode: str
) -> None:
    sessions.write(COMMON + GUILTY.format(guilty={3}))
    session = sessions.run("-n2", f"--dist={mode}", in_flight=10)
    assert blamed(session) == {3: 2}
    assert outcomes(session) == {"error": 1, "passed": 19}
    assert session.counts == {"failed": 1, "passed": 19}
    (path,) = pytester.path.glob("**/journal.jsonl")
    lines = [json.loads(document) for document in read_journal(path).documents]
    journal = Counter(line["outcome"] for line in lines if line["kind"] == "trial")
    assert journal == {"error": 1, "passed": 19}
    assert max(session.noted(str(trial)).count("began") for trial in range(20)) == 2
    assert re.search(
        r"^gw[01] died with \d+ trials in flight; each had to run", session.text, re.MULTILINE
    )
    assert "crashed while running 'test_suite.py::test_it[trial-3]" in session.text
    assert "  PASS  test_it [19/20 safe, 95% pass rate, threshold: 90%] -- PASSED" in session.lines
    assert "  - test_suite.py::test_it[trial-3] was lost with its worker" in session.lines
    assert "never ended" not in session.text
    assert session.status == pytest.ExitCode.TESTS_FAILED


def test_on_several_environments_each_blames_the_trial_that_killed_it(sessions: Sessions) -> None:
    sessions.write(COMMON + GUILTY.format(guilty={3}).replace("(10, again)", "(10)"))
    session = sessions.run("-n2", "--dist=each", in_flight=10)
    assert set(blamed(session)) == {3}
    assert outcomes(session) == {"error": 1, "passed": 19}
    assert session.counts == {"failed": 2, "passed": 38}


def test_two_that_kill_their_worker_are_both_found(sessions: Sessions) -> None:
    sessions.write(COMMON + GUILTY.format(guilty={3, 7}))
    session = sessions.run("-n1", in_flight=10)
    assert blamed(session) == {3: 2, 7: 2}
    assert outcomes(session) == {"error": 2, "passed": 18}
    assert session.counts == {"failed": 2, "passed": 18}


@pytest.mark.parametrize("mode", ["load", "loadgroup", "worksteal"])
def test_when_every_trial_kills_its_worker_each_is_tried_twice_at_most(
    sessions: Sessions, mode: str
) -> None:
    sessions.write(
        """
    @pytest.mark.trial(n=2)
    @pytest.mark.parametrize("case", ["a", "b", "c"])
    def test_it(case, request):
        event("began", request.node.name)
        os._exit(1)
    """
    )
    session = sessions.run("-n2", f"--dist={mode}", "--max-worker-restart=20", in_flight=3)
    assert outcomes(session) == {"error": 6}
    assert session.counts == {"failed": 6}
    assert set(Counter(who for who, _ in session.events).values()) <= {1, 2}
    assert session.status == pytest.ExitCode.TESTS_FAILED


def test_workers_that_die_are_replaced_as_often_as_asked(sessions: Sessions) -> None:
    sessions.write(COMMON + GUILTY.format(guilty={3}))
    session = sessions.run("-n1", "--max-worker-restart=0", in_flight=10)
    assert blamed(session) == {}
    assert "worker gw0 crashed and worker restarting disabled" in session.text
    assert "planned trials never ended" in session.text
    assert "test_it[trial-3]" in session.text
    assert session.status == pytest.ExitCode.TESTS_FAILED


@needs_sigkill
def test_of_a_worker_that_was_killed_from_outside_no_trial_is_accused(sessions: Sessions) -> None:
    sessions.write(
        COMMON
        + """
    @pytest.mark.trial(n=20)
    async def test_it(trial, again):
        await beside_others(10, again)
        if worker == "gw0":
            (here / "unwritten").write_text(str(os.getpid()))
            (here / "unwritten").replace(here / "victim")
            await asyncio.sleep(60)
        elif not crashed.exists():
            await until(here / "victim")
            if not crashed.exists():
                crashed.touch()
                os.kill(int((here / "victim").read_text()), signal.SIGKILL)
        record("safe")
    """
    )
    session = sessions.run("-n2", in_flight=10)
    assert outcomes(session) == {"passed": 20}
    assert session.counts == {"passed": 20}
    began = Counter(session.noted(str(trial)).count("began") for trial in range(20))
    assert began == {1: 10, 2: 10}
    assert (
        "gw0 died with 10 trials in flight; each had to run again, alone, to show which it died of"
        in session.lines
    )
    # Nobody knows what killed it: that is not a run to rely on.
    assert "  - worker gw0 died: Not properly terminated" in session.lines
    assert session.status == pytest.ExitCode.TESTS_FAILED


def test_a_trial_that_kills_its_worker_alone_is_tried_once(sessions: Sessions) -> None:
    sessions.write(
        COMMON
        + """
    @pytest.mark.trial(n=4)
    def test_before(): record("safe")

    @pytest.mark.trial(n=1, concurrency=1)
    def test_it(trial): die()

    @pytest.mark.trial(n=4)
    def test_after(): record("safe")
    """
    )
    session = sessions.run("-n1")
    assert blamed(session) == {0: 1}
    assert session.counts == {"failed": 1, "passed": 8}
    assert "trials in flight" not in session.text


def test_a_tear_down_that_kills_the_worker_is_found_too(sessions: Sessions) -> None:
    sessions.write(
        COMMON
        + """
    @pytest.fixture
    async def deadly(trial):
        yield
        if trial == 2: die()

    @pytest.mark.trial(n=4)
    async def test_it(trial, deadly):
        await beside_others(4)
        if trial != 2 and not crashed.exists(): await asyncio.sleep(60)
        record("safe")
    """
    )
    session = sessions.run("-n1")
    assert blamed(session) == {2: 2}
    assert outcomes(session) == {"error": 1, "passed": 3}


def test_suspects_leave_no_worker_with_a_single_item_to_wait_for_the_next(
    sessions: Sessions,
) -> None:
    # Units of xdist's of one item each, and one worker for all of them.
    sessions.write(
        COMMON
        + """
    @pytest.mark.trial(n=2)
    async def test_it(trial):
        await beside_others(2)
        if trial == 1: die()
        record("safe")

    @pytest.mark.trial(n=1)
    def test_a(): record("safe")

    @pytest.mark.trial(n=1)
    def test_b(): record("safe")

    @pytest.mark.trial(n=1)
    def test_c(): record("safe")
    """
    )
    session = sessions.run("-n1", "--dist=loadgroup", in_flight=10)
    assert blamed(session) == {1: 2}
    assert session.counts == {"failed": 1, "passed": 4}


def test_trials_that_were_not_in_flight_run_together_still(sessions: Sessions) -> None:
    # The worker dies of its first ten; the last ten meet each other in the next one.
    sessions.write(
        COMMON
        + """
    @pytest.mark.trial(n=20)
    async def test_it(trial):
        if trial < 10: await beside_others(10)
        else: await meet_async(10, "later")
        if trial == 0: die()
        record("safe")
    """
    )
    session = sessions.run("-n1", in_flight=10)
    assert blamed(session) == {0: 2}
    assert session.counts == {"failed": 1, "passed": 19}


def test_one_at_a_time_a_crash_is_what_it_is_for_xdist(sessions: Sessions) -> None:
    sessions.write(COMMON + GUILTY.format(guilty={3}))
    session = sessions.run("-n2", in_flight=1)
    assert blamed(session) == {3: 1}
    assert session.counts == {"failed": 1, "passed": 19}


def test_what_had_ended_before_xdist_ticked_it_off_is_not_run_again(sessions: Sessions) -> None:
    # The worker dies when the last report of the trial has left, and before xdist's own word of it.
    sessions.write(
        COMMON
        + """
    @pytest.mark.trial(n=4)
    async def test_it(trial):
        await beside_others(4)
        if trial != 2 and not crashed.exists(): await asyncio.sleep(60)
        record("safe")
    """,
        files={
            "conftest": """
            from pathlib import Path

            @pytest.hookimpl(trylast=True)
            def pytest_runtest_logfinish(nodeid):
                crashed = Path(__file__).with_name("crashed")
                if "trial-2]" in nodeid and "PYTEST_XDIST_WORKER" in os.environ:
                    crashed.touch()
                    os._exit(1)
            """
        },
    )
    session = sessions.run("-n1")
    assert session.counts == {"passed": 4}
    assert [session.noted(str(trial)).count("began") for trial in range(4)] == [2, 2, 1, 2]
    assert session.status == pytest.ExitCode.TESTS_FAILED


def test_what_ended_before_the_crash_holds_up_no_worker_after_it(sessions: Sessions) -> None:
    # xdist would hand out the units that are done once more, and wait for a word on them.
    sessions.write(
        COMMON
        + """
    three = pytest.mark.parametrize("case", range(3))

    @three
    @pytest.mark.trial(n=1)
    def test_before(case): record("safe")

    @pytest.mark.trial(n=2)
    async def test_it(trial):
        await until(here / "test_before[1-trial-0]")
        if trial == 1: die()
        if not crashed.exists(): await asyncio.sleep(60)
        record("safe")

    @three
    @pytest.mark.trial(n=1)
    def test_after(case): record("safe")
    """,
        files={
            "conftest": """
            from pathlib import Path

            def pytest_runtest_logfinish(nodeid):
                if "PYTEST_XDIST_WORKER" not in os.environ:
                    Path(__file__).with_name(nodeid.partition("::")[2].partition("@")[0]).touch()
            """
        },
    )
    session = sessions.run("-n1", "--dist=loadgroup", in_flight=10)
    assert blamed(session) == {1: 2}
    assert session.counts == {"failed": 1, "passed": 7}


def test_a_worker_may_be_dead_before_xdist_knows() -> None:
    gateway = execnet.makegateway(f"popen//python={sys.executable}")
    channel = gateway.remote_exec("pass")
    channel.waitclose()
    gateway.exit()

    class Node:
        """What xdist's controller knows of a worker, as far as it is used here."""

        def process_from_remote(self, message: object) -> None: ...

        def sendcommand(self, name: str, **content: object) -> None:
            channel.send((name, content))

    node = Node()
    with pytest.raises(OSError, match="cannot send"):
        node.sendcommand("runtests", indices=[0])
    CrashBlame().watch(node)
    node.sendcommand("runtests", indices=[0])
