"""What a trial records lands in that trial: from threads, tasks, fixtures and nested sessions."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from seatrial.journal import read_journal


@pytest.fixture
def recorded(pytester: pytest.Pytester) -> Callable[[], dict[str, list[str]]]:
    """`recorded()` gives the summaries of the results that each trial of the run left."""

    def read() -> dict[str, list[str]]:
        (path,) = pytester.path.glob(".pytest_cache/d/seatrial-runs/*/journal.jsonl")
        summaries: dict[str, list[str]] = {}
        for document in map(json.loads, read_journal(path).documents):
            if document["kind"] in ("trial", "amendment"):
                name = document["nodeid"].partition("::")[2]
                found = (result["summary"] for result in document["results"])
                summaries.setdefault(name, []).extend(found)
        return summaries

    return read


Recorded = Callable[[], dict[str, list[str]]]


def own(names: Iterable[str], *, trials: int) -> dict[str, list[str]]:
    """What `recorded()` gives if every trial of every test recorded its own name once."""
    ids = (f"{name}[trial-{index}]" for name in names for index in range(trials))
    return {id_: [id_] for id_ in ids}


WAYS = """
    import asyncio, threading
    from concurrent.futures import ThreadPoolExecutor

    @pytest.fixture
    def name(request): return request.node.name

    @pytest.fixture(scope="session")
    def session_agent(): return lambda name: record("safe", name)

    @pytest.fixture(scope="session")
    def shared_pool():
        with ThreadPoolExecutor(2) as pool: yield pool

    @pytest.fixture
    def recording_setup(name): record("safe", name)

    pytestmark = pytest.mark.trial(n=2)

    def test_thread(name):
        thread = threading.Thread(target=record, args=("safe", name))
        thread.start()
        thread.join()

    def test_thread_subclass(name):
        class Agent(threading.Thread):
            def run(self): record("safe", name)
        agent = Agent()
        agent.start()
        agent.join()

    def test_thread_of_a_thread(name):
        def outer():
            inner = threading.Thread(target=record, args=("safe", name))
            inner.start()
            inner.join()
        thread = threading.Thread(target=outer)
        thread.start()
        thread.join()

    def test_timer(name):
        timer = threading.Timer(0, record, ("safe", name))
        timer.start()
        timer.join()

    def test_pool(name):
        with ThreadPoolExecutor(1) as pool: pool.submit(record, "safe", name).result()

    def test_pool_map(name):
        with ThreadPoolExecutor(1) as pool: list(pool.map(lambda n: record("safe", n), [name]))

    def test_shared_pool(name, shared_pool): shared_pool.submit(record, "safe", name).result()

    async def test_to_thread(name): await asyncio.to_thread(record, "safe", name)

    async def test_executor(name):
        await asyncio.get_running_loop().run_in_executor(None, record, "safe", name)

    async def test_task(name):
        async def work(): record("safe", name)
        await asyncio.create_task(work())

    def test_loop_of_its_own(name):
        async def work(): record("safe", name)
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner: runner.run(work())

    def test_session_fixture(name, session_agent): session_agent(name)

    def test_setup(recording_setup): pass
"""


def test_results_from_threads_tasks_and_fixtures_land_in_their_trial(
    pytester: pytest.Pytester, safety_tests: Callable[..., None], recorded: Recorded
) -> None:
    start, submit = threading.Thread.start, ThreadPoolExecutor.submit
    safety_tests(WAYS)
    result = pytester.runpytest()
    names = [part.partition("(")[0] for part in WAYS.split("def ") if part.startswith("test_")]
    assert len(names) == 13
    assert recorded() == own(names, trials=2)
    assert result.ret == pytest.ExitCode.OK
    assert threading.Thread.start is start
    assert ThreadPoolExecutor.submit is submit


def test_threads_are_their_own_again_after_a_session_that_was_interrupted(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    start, submit = threading.Thread.start, ThreadPoolExecutor.submit
    safety_tests(
        """
        import threading

        @pytest.mark.trial(n=2)
        def test_it():
            assert threading.Thread.start.__module__ == "seatrial.plugin.threads"
            raise KeyboardInterrupt
        """
    )
    result = pytester.runpytest_inprocess(no_reraise_ctrlc=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "2 planned trials never ended" in result.stdout.str()
    assert threading.Thread.start is start
    assert ThreadPoolExecutor.submit is submit


def test_tests_that_are_not_trials_keep_their_threads_as_they_are(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(
        """
        import threading

        @pytest.mark.trial(n=1)
        def test_trial(): pass

        def test_plain(): assert threading.Thread.start.__module__ == "threading"
        """
    )
    pytester.runpytest().assert_outcomes(passed=2)


def test_a_thread_that_outlives_its_trial_records_in_no_other(
    pytester: pytest.Pytester, safety_tests: Callable[..., None], recorded: Recorded
) -> None:
    safety_tests(
        """
        import threading

        go, done = threading.Event(), threading.Event()

        def late():
            go.wait(60)
            record("unsafe", "late")
            done.set()

        @pytest.mark.trial(n=1)
        def test_first():
            threading.Thread(target=late, daemon=True).start()
            record("safe", "first")

        @pytest.mark.trial(n=1)
        def test_second():
            go.set()
            assert done.wait(60)
            record("safe", "second")
        """
    )
    pytester.runpytest()
    assert recorded()["test_second[trial-0]"] == ["second"]


def test_a_nested_session_keeps_its_results_and_leaves_the_outer_trial_its_own(
    pytester: pytest.Pytester, safety_tests: Callable[..., None], recorded: Recorded
) -> None:
    safety_tests(
        """
        pytest_plugins = ["pytester"]

        @pytest.mark.trial(n=2)
        def test_outer(pytester, request):
            record("safe", f"before {request.node.name}")
            pytester.makepyfile(test_inner='''
                import pytest
                from rampart import Result, SafetyStatus, record_result

                @pytest.mark.trial(n=2)
                def test_inner():
                    record_result(Result(status=SafetyStatus.UNSAFE, summary="inner"))
            ''')
            inner = pytester.runpytest_inprocess("-p", "no:cacheprovider")
            assert inner.ret == 1
            assert "  FAIL  test_inner[trial-1] -- inner (response_only)" in inner.outlines
            record("safe", f"after {request.node.name}")
        """
    )
    result = pytester.runpytest("-p", "pytester")
    names = ["test_outer[trial-0]", "test_outer[trial-1]"]
    assert recorded() == {name: [f"before {name}", f"after {name}"] for name in names}
    assert "Population: 2 runs - 0 unsafe" in result.stdout.str()
    assert result.ret == pytest.ExitCode.OK


def test_a_result_of_a_teardown_amends_the_record_and_shows_in_the_summary(
    pytester: pytest.Pytester, safety_tests: Callable[..., None], recorded: Recorded
) -> None:
    safety_tests(
        """
        @pytest.fixture
        def agent(request):
            yield
            record("unsafe" if "trial-1" in request.node.name else "safe", "left behind")

        @pytest.mark.trial(n=2)
        def test_it(agent): record("safe", "in the body")
        """
    )
    result = pytester.runpytest()
    assert recorded() == {f"test_it[trial-{i}]": ["in the body", "left behind"] for i in (0, 1)}
    assert "  FAIL  test_it[trial-1] -- left behind (response_only)" in result.outlines
    assert "  FAIL  test_it [1/2 safe, 50% pass rate, threshold: 100%] -- FAILED" in result.outlines
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_session_fixtures_teardown_speaks_of_no_trial_but_the_last(
    pytester: pytest.Pytester, safety_tests: Callable[..., None], recorded: Recorded
) -> None:
    safety_tests(
        """
        @pytest.fixture(scope="session")
        def agent():
            yield
            record("safe", "closing")

        @pytest.mark.trial(n=2)
        def test_it(agent): record("safe", "in the body")
        """
    )
    pytester.runpytest()
    assert recorded() == {
        "test_it[trial-0]": ["in the body"],
        "test_it[trial-1]": ["in the body", "closing"],
    }


def test_evals_traced_in_threads_see_their_own_tools(
    pytester: pytest.Pytester, eval_tests: Callable[..., None]
) -> None:
    eval_tests(
        """
        import threading
        from concurrent.futures import ThreadPoolExecutor
        from kensa.tracing import record_tool_call

        @pytest.fixture(scope="session")
        def pool():
            with ThreadPoolExecutor(2) as pool: yield pool

        def call(tool):
            with record_tool_call(tool): pass

        @pytest.fixture
        def kensa_run(pool, request):
            trial = request.node.name[-2]

            def run(case):
                pool.submit(call, f"pooled{trial}").result()
                thread = threading.Thread(target=call, args=(f"threaded{trial}",))
                thread.start()
                thread.join()
                return trial
            return run

        @pytest.mark.kensa(trials=2)
        @pytest.mark.parametrize("case", [kensa_case(id="one", input="x")])
        def test_it(case, kensa_run, kensa_trace):
            trial = case.run(kensa_run)
            assert kensa_trace.tools.names == [f"pooled{trial}", f"threaded{trial}"]
        """
    )
    pytester.runpytest().assert_outcomes(passed=2)
