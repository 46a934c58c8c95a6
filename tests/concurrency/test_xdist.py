"""Many trials in flight in each of several workers."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from .sessions import Sessions, assert_same

pytest.importorskip("xdist")

SUITE = """
    @pytest.fixture(scope="session")
    def shared(): return "shared"

    @pytest.fixture
    def trial(request):
        return int("".join(c for c in request.node.name.rpartition("trial")[2] if c.isdigit()))

    @pytest.fixture
    async def own(request):
        await asyncio.sleep(0)
        yield request.node.name

    pytestmark = pytest.mark.harm("exfiltration")

    @pytest.mark.trial(n=8)
    async def test_safe(own, shared, request):
        print("printed by", request.node.name)
        await asyncio.sleep(0)
        assert own == request.node.name
        record("safe", request.node.name)

    @pytest.mark.trial(n=6, threshold=0.5)
    def test_unsafe(trial): record("unsafe" if trial == 4 else "safe", f"trial {trial}")

    @pytest.mark.trial(n=6, threshold=0.5)
    def test_tolerated(trial):
        if trial == 1: raise RuntimeError("net down")
        record("undetermined" if trial == 2 else "safe")

    @pytest.mark.trial(n=2, concurrency=1)
    def test_alone(): pass

    @pytest.mark.trial(n=2)
    def test_patched(monkeypatch): monkeypatch.setenv("SUITE", "patched")

    class TestEvals:
        @pytest.mark.kensa(trials=3)
        @pytest.mark.parametrize("case", [kensa_case(id=i, input=i) for i in ("a", "b")])
        async def test_eval(self, case, trial):
            output = case.run(lambda case: {"answer": case.input})
            await asyncio.sleep(0)
            assert (case.id, trial) != ("b", 2)

    def test_plain(): warnings.warn("careful", stacklevel=1)
    """


@pytest.mark.parametrize("mode", ["load", "loadscope", "loadfile", "loadgroup", "worksteal"])
def test_workers_with_trials_in_flight_say_what_one_process_says(
    sessions: Sessions, mode: str
) -> None:
    sessions.write(SUITE)
    serial = sessions.run("-p", "no:xdist", in_flight=1).said()
    sessions.forget()
    spread = sessions.run("-n2", f"--dist={mode}").said()
    for said in (serial, spread):
        if mode == "loadgroup":  # before pytest 9.2 the ids are longer, and the lines are cut
            del said["short summary"]
        for reports in said["reports"].values():
            for report in reports:
                # Only with xdist there is a mark for its groups.
                report["keywords"] = [k for k in report["keywords"] if k != "xdist_group"]
    # Under loadgroup xdist adds the group to the id.
    spread = json.loads(re.sub(r"@seatrial-[0-9a-f]{12}", "", json.dumps(spread)))
    assert_same(json.loads(json.dumps(serial)), spread)


def test_workers_keep_their_trials_in_flight_together(sessions: Sessions) -> None:
    # Each worker gets at least ten of the forty; in each, ten meet at a barrier of its own.
    sessions.write(
        """
        @pytest.mark.trial(n=40)
        def test_it(): meet(10)
        """
    )
    session = sessions.run("-n2", "--dist=worksteal")
    assert session.counts == {"passed": 40}


def test_a_test_of_one_trial_at_a_time_stays_so_in_each_worker(sessions: Sessions) -> None:
    sessions.write(
        """
        inside = 0

        @pytest.mark.trial(n=8, concurrency=1)
        async def test_it():
            global inside
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            inside -= 1
        """
    )
    assert sessions.run("-n2").counts == {"passed": 8}


def test_shared_fixtures_live_once_in_each_worker(sessions: Sessions) -> None:
    sessions.write(
        """
        @pytest.fixture(scope="session")
        def shared():
            worker = os.environ["PYTEST_XDIST_WORKER"]
            event("up", worker)
            yield worker
            event("down", worker)

        @pytest.mark.trial(n=20)
        async def test_it(shared):
            await asyncio.sleep(0)
            event("used", shared)
        """
    )
    session = sessions.run("-n2", "--dist=worksteal")
    assert session.counts == {"passed": 20}
    used = 0
    for worker in ("gw0", "gw1"):
        noted = session.noted(worker)
        assert noted[0] == "up"
        assert noted[-1] == "down"
        assert Counter(noted)["up"] == Counter(noted)["down"] == 1
        used += Counter(noted)["used"]
    assert used == 20


def test_the_first_failure_stops_all_workers(sessions: Sessions) -> None:
    sessions.write(
        """
        @pytest.mark.trial(n=200)
        async def test_it(request):
            if request.node.name.endswith("-0]"): pytest.fail("on purpose")
            await asyncio.sleep(0.05)
        """
    )
    session = sessions.run("-n2", "-x", "--trial-concurrency=4")
    assert session.status in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    assert session.counts["failed"] == 1
    assert session.counts.get("passed", 0) < 100
    assert "INCOMPLETE RUN" in session.text


def test_a_worker_that_dies_loses_no_finished_trial(sessions: Sessions) -> None:
    sessions.write(
        """
        @pytest.mark.trial(n=8)
        async def test_it(request):
            await asyncio.sleep(0)
            record("safe")

        @pytest.mark.trial(n=1, concurrency=1)
        def test_crashes(): os._exit(1)

        @pytest.mark.trial(n=4)
        def test_after(): record("safe")
        """
    )
    session = sessions.run("-n2")
    assert session.status == pytest.ExitCode.TESTS_FAILED
    records = session.recording.run["records"]
    outcomes = {name.partition("::")[2]: record["outcome"] for name, record in records.items()}
    assert {outcomes[f"test_it[trial-{i}]"] for i in range(8)} == {"passed"}
    assert {outcomes[f"test_after[trial-{i}]"] for i in range(4)} == {"passed"}
    assert outcomes["test_crashes[trial-0]"] == "error"
    assert "INCOMPLETE RUN" in session.text


def test_auto_is_shared_by_the_workers(sessions: Sessions) -> None:
    # 32 in all: 16 in each of two workers.
    sessions.write(
        """
        lock = threading.Lock()
        inside = 0

        @pytest.mark.trial(n=40)
        def test_it():
            global inside
            with lock:
                inside += 1
                assert inside <= 16
            meet(12)
            with lock: inside -= 1
        """
    )
    session = sessions.run("-n2", "--dist=worksteal", "--trial-concurrency=auto")
    assert session.counts == {"passed": 40}
