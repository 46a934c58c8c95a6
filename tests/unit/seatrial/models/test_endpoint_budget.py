"""One budget for all who ask an endpoint: tasks, threads, processes, and those that are killed."""

from __future__ import annotations

import asyncio
import os
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from seatrial.errors import ModelConfigurationError
from seatrial.models import endpoint_budget
from seatrial.models.endpoint_budget import EndpointBudget
from seatrial.models.endpoint_limit import STATE_BYTES, EndpointState, parse
from seatrial.models.process_lock import try_lock

ENDPOINT = "https://api.example.com/v1 judge"
_START = f"""
import asyncio, os, pathlib, sys
from seatrial.models.endpoint_budget import EndpointBudget
def budget(**limits):
    return EndpointBudget(pathlib.Path(sys.argv[1]), {ENDPOINT!r}, **limits)
"""
_ASKS = """
async def ask(shared):
    async with shared.turn():
        reader, writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))
        await reader.read()
        writer.close()
async def main():
    await asyncio.gather(*(ask(budget(most_at_once=4)) for _ in range(12)))
asyncio.run(main())
"""
_HOLDS = """
async def main():
    async with budget(most_at_once=1).turn():
        print("held", flush=True)
        sys.stdin.read()
asyncio.run(main())
"""
_IS_REFUSED = """
async def main():
    async with budget().turn() as turn:
        turn.throttled(60)
asyncio.run(main())
"""
_TRIES = """
async def main():
    try:
        async with asyncio.timeout(0.2), budget(most_at_once=4).turn():
            print("started")
    except TimeoutError:
        print("waited")
asyncio.run(main())
"""
_FORKS = """
async def take():
    async with asyncio.timeout(20), budget(most_at_once=1).turn():
        pass
async def main():
    async with budget(most_at_once=1).turn():
        child = os.fork()
        if child == 0:
            try:
                asyncio.run(take())
            except BaseException:
                os._exit(1)
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(asyncio.run(main()))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "budgets"


def process(program: str, folder: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _START + program, str(folder), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def state_file(folder: Path) -> Path:
    (file,) = folder.glob("*/state")
    return file


def files_in(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def stored(folder: Path) -> EndpointState:
    return parse(state_file(folder).read_bytes()[:STATE_BYTES])


class Counter:
    """Counts what is in flight, and answers nobody before `full` are, or no more can come."""

    def __init__(self, *, full: int, expected: int) -> None:
        self.most = self.seen = self._in_flight = self._answered = 0
        self._full, self._expected = full, expected
        self._changed = threading.Condition()

    def __call__(self) -> None:
        with self._changed:
            self._in_flight += 1
            self.seen += 1
            self.most = max(self.most, self._in_flight)
            self._changed.notify_all()
            assert self._changed.wait_for(self._is_full, timeout=30)
            # Time for one too many to come; it would be counted.
            self._changed.wait_for(lambda: self._in_flight > self._full, timeout=0.03)
            self._in_flight -= 1
            self._answered += 1
            self._changed.notify_all()

    def _is_full(self) -> bool:
        return self._in_flight >= min(self._full, self._expected - self._answered)


@contextmanager
def server(answer: Callable[[], None]) -> Iterator[int]:
    """A server on loopback that calls `answer` for each connection; its port."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            answer()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield listening.server_address[1]
        finally:
            listening.shutdown()
            thread.join()


async def take_turn(budget: EndpointBudget) -> None:
    async with budget.turn():
        pass


async def most_in_flight(budget: EndpointBudget, *, tasks: int, full: int) -> int:
    """How many of `tasks` were in flight at once; the first `full` wait for each other."""
    in_flight = most = 0
    is_full, one_more = asyncio.Event(), asyncio.Event()

    async def attempt() -> None:
        nonlocal in_flight, most
        async with budget.turn():
            in_flight += 1
            most = max(most, in_flight)
            if in_flight >= full:
                is_full.set()
            if in_flight > full:
                one_more.set()
            await asyncio.wait_for(is_full.wait(), timeout=20)
            await asyncio.wait({asyncio.ensure_future(one_more.wait())}, timeout=0.1)
            in_flight -= 1

    async with asyncio.TaskGroup() as group:
        for _ in range(tasks):
            group.create_task(attempt())
    one_more.set()
    await asyncio.sleep(0)
    return most


def test_processes_together_use_the_whole_limit_and_never_more(folder: Path) -> None:
    count = Counter(full=4, expected=36)
    with server(count) as port:
        processes = [process(_ASKS, folder, str(port)) for _ in range(3)]
        for asking in processes:
            asking.communicate(timeout=60)
            assert asking.returncode == 0
    assert (count.most, count.seen) == (4, 36)


@pytest.mark.asyncio
async def test_a_process_that_is_killed_frees_its_slot(folder: Path) -> None:
    budget = EndpointBudget(folder, ENDPOINT, most_at_once=1)
    with process(_HOLDS, folder) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2), budget.turn():
                pass
        holder.kill()
        holder.wait()
        async with asyncio.timeout(20), budget.turn():
            pass


@pytest.mark.asyncio
async def test_all_processes_wait_for_what_one_was_told(folder: Path) -> None:
    with process(_IS_REFUSED, folder) as refused:
        assert refused.wait(timeout=30) == 0
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2), EndpointBudget(folder, ENDPOINT).turn():
            pass
    async with EndpointBudget(folder, "https://other.example.com").turn():
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_fork_does_not_take_its_parents_attempts_for_its_own(folder: Path) -> None:
    with process(_FORKS, folder) as parent:
        assert parent.wait(timeout=60) == 0


@pytest.mark.asyncio
async def test_attempts_wait_until_the_endpoint_lets_them(folder: Path) -> None:
    budget = EndpointBudget(folder, ENDPOINT)
    refused_at = time.time()
    async with budget.turn() as turn:
        turn.throttled(0.3)
    async with budget.turn():
        assert time.time() >= refused_at + 0.3


@pytest.mark.asyncio
async def test_refusals_halve_what_may_be_in_flight_and_answers_give_it_back(folder: Path) -> None:
    budget = EndpointBudget(folder, ENDPOINT, most_at_once=4)
    assert await most_in_flight(budget, tasks=6, full=4) == 4
    together = asyncio.Barrier(4)

    async def is_refused() -> None:
        async with budget.turn() as turn:
            await together.wait()
            turn.throttled(0)

    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(is_refused())
    assert stored(folder).limit == 2
    # Two answers make it 3, of which the third attempt tells nothing yet.
    for _ in range(2):
        async with budget.turn():
            pass
    assert stored(folder).limit == 3
    assert await most_in_flight(budget, tasks=3, full=3) == 3
    assert await most_in_flight(budget, tasks=6, full=4) == 4


@pytest.mark.asyncio
async def test_no_more_start_than_the_limit_while_attempts_from_before_it_are_in_flight(
    folder: Path,
) -> None:
    budget = EndpointBudget(folder, ENDPOINT, most_at_once=4)
    first, second = budget.turn(), budget.turn()
    (await first.__aenter__()).throttled(0)
    await second.__aenter__()
    async with budget.turn(), budget.turn():
        await first.__aexit__(None, None, None)
        await second.__aexit__(None, None, None)
        assert stored(folder).limit == 2
        # Another process knows of the two only by their locks.
        with process(_TRIES, folder) as other:
            assert other.stdout is not None
            assert other.stdout.read() == b"waited\n"
    async with asyncio.timeout(20), budget.turn():
        pass


@pytest.mark.asyncio
async def test_an_error_frees_the_slot_and_teaches_nothing(folder: Path) -> None:
    budget = EndpointBudget(folder, ENDPOINT, most_at_once=2)
    async with budget.turn() as turn:
        turn.throttled(0)
    before = stored(folder)
    with pytest.raises(ValueError, match="lost"):
        async with budget.turn():
            raise ValueError("lost")
    assert stored(folder) == before
    async with asyncio.timeout(20), budget.turn():
        pass
    assert stored(folder).limit == 2


@pytest.mark.asyncio
async def test_a_refusal_counts_also_when_it_leaves_as_an_error(folder: Path) -> None:
    budget = EndpointBudget(folder, ENDPOINT, most_at_once=8)

    async def is_refused() -> None:
        async with budget.turn() as turn:
            turn.throttled(0)
            raise ValueError("429")

    with pytest.raises(ValueError, match="429"):
        await is_refused()
    assert stored(folder).limit == 4


@pytest.mark.asyncio
async def test_a_waiter_that_is_cancelled_ends_at_once_and_leaves_nothing(folder: Path) -> None:
    budget = EndpointBudget(folder, ENDPOINT, most_at_once=1)
    started = False

    async def attempt() -> None:
        nonlocal started
        async with budget.turn():
            started = True

    async with budget.turn():
        waiter = asyncio.create_task(attempt())
        await asyncio.wait({waiter}, timeout=0.1)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
    assert not started
    async with asyncio.timeout(20), budget.turn():
        pass


@pytest.mark.asyncio
async def test_an_attempt_that_is_cancelled_in_flight_frees_its_slot(folder: Path) -> None:
    budget = EndpointBudget(folder, ENDPOINT, most_at_once=1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05), budget.turn():
            await asyncio.Event().wait()
    async with asyncio.timeout(20), budget.turn():
        pass


@pytest.mark.asyncio
@pytest.mark.parametrize("content", [b"", b"{", b"\xff" * 300, b"[1]", b'{"limit": 0}', b"null"])
async def test_a_damaged_state_counts_as_none(folder: Path, content: bytes) -> None:
    budget = EndpointBudget(folder, ENDPOINT, most_at_once=8)
    async with budget.turn() as turn:
        turn.throttled(60)
    state_file(folder).write_bytes(content)
    async with asyncio.timeout(20), budget.turn() as turn:
        turn.throttled(0)
    assert stored(folder).limit == 4


@pytest.mark.asyncio
async def test_starts_are_spaced_by_the_rate_over_all_instances(folder: Path) -> None:
    starts: list[float] = []

    async def attempt() -> None:
        async with EndpointBudget(folder, ENDPOINT, rate_per_s=50).turn():
            starts.append(time.time())

    begun = time.time()
    async with asyncio.TaskGroup() as group:
        for _ in range(8):
            group.create_task(attempt())
    assert all(start >= begun + number / 50 - 0.005 for number, start in enumerate(sorted(starts)))


@pytest.mark.asyncio
async def test_who_waits_for_its_start_hears_of_a_refusal_meanwhile(folder: Path) -> None:
    budget = EndpointBudget(folder, ENDPOINT, rate_per_s=2)
    started = False

    async def attempt() -> None:
        nonlocal started
        async with budget.turn():
            started = True

    async with budget.turn() as turn:
        waiter = asyncio.create_task(attempt())
        await asyncio.sleep(0)
        turn.throttled(60)
    await asyncio.wait({waiter}, timeout=0.8)
    waiter.cancel()
    await asyncio.wait({waiter})
    assert not started


@pytest.mark.asyncio
async def test_an_answer_does_not_hang_on_a_process_that_was_stopped_with_the_state(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_budget, "_LEARN_S", 0.05)
    budget = EndpointBudget(folder, ENDPOINT)
    async with asyncio.timeout(20), budget.turn() as turn:
        turn.throttled(60)
        stopped = try_lock(state_file(folder))
        assert stopped is not None
    stopped.close()
    assert stored(folder) == EndpointState()


@pytest.mark.asyncio
async def test_nothing_of_the_endpoints_name_is_written(folder: Path) -> None:
    secret = "https://user:sk-secret@example.com/v1?key=sk-secret \ud800/../../x\0"
    budget = EndpointBudget(folder, secret, most_at_once=1, rate_per_s=100)
    async with budget.turn() as turn:
        turn.throttled(0)
    async with budget.turn():
        pass
    files = files_in(folder)
    assert {file.name for file in files} == {".gitignore", "state", "slot-0"}
    for file in files:
        assert "secret" not in str(file)
        assert b"secret" not in file.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="folders there have no mode")
def test_a_folder_that_others_can_write_to_is_refused(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(ModelConfigurationError, match="folder that only this user can write to"):
        asyncio.run(take_turn(EndpointBudget(folder, ENDPOINT)))


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ModelConfigurationError, match=r"cannot be kept in .*file"):
        asyncio.run(take_turn(EndpointBudget(tmp_path / "file" / "budgets", ENDPOINT)))


@pytest.mark.parametrize("most_at_once", [0, -1])
def test_a_budget_for_no_attempt_is_an_error(folder: Path, most_at_once: int) -> None:
    with pytest.raises(ModelConfigurationError, match=r"most_at_once=.*expected .* from 1"):
        EndpointBudget(folder, ENDPOINT, most_at_once=most_at_once)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_a_rate_that_is_none_is_an_error(folder: Path, rate: float) -> None:
    with pytest.raises(ModelConfigurationError, match=r"rate_per_s=.*expected .* above 0"):
        EndpointBudget(folder, ENDPOINT, rate_per_s=rate)


def test_what_is_kept_of_endpoints_that_nobody_asks_any_more_is_removed(tmp_path: Path) -> None:
    async def ask(*endpoints: str) -> None:
        for endpoint in endpoints:
            async with EndpointBudget(tmp_path, endpoint).turn():
                pass

    def age(folder: Path) -> None:
        yesterday = time.time() - 25 * 3600
        os.utime(folder, (yesterday, yesterday))

    asyncio.run(ask("old"))
    (old,) = tmp_path.iterdir()
    age(old)
    asyncio.run(ask("used"))
    (used,) = tmp_path.iterdir()
    assert used != old
    age(used)
    asyncio.run(ask("used", "new"))
    assert used in tmp_path.iterdir()
