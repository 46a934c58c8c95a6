"""Time limits: a trial's body that takes longer ends as timed out, and takes nothing else with it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from seatrial import codec
from seatrial.journal import read_journal
from seatrial.outcome import Outcome
from seatrial.trial import TrialRecord

SafetyTests = Callable[..., None]
NEVER = "--trial-timeout=600"

HANGING_ASYNC = """
    import asyncio

    @pytest.mark.trial(n=1{arguments})
    async def test_it():
        record("undetermined", "early")
        await hang()

    async def hang():
        await asyncio.Event().wait()
"""

HANGING_SYNC = """
    import threading

    @pytest.mark.trial(n=1{arguments})
    def test_it():
        record("undetermined", "early")
        hang()

    def hang():
        threading.Event().wait()
"""

HANGING = pytest.mark.parametrize(
    ("hanging", "line"),
    [
        pytest.param(HANGING_ASYNC, "await asyncio.Event().wait()", id="async"),
        pytest.param(HANGING_SYNC, "threading.Event().wait()", id="sync"),
    ],
)


def records(pytester: pytest.Pytester) -> dict[str, TrialRecord]:
    """The records of the newest run, by the name of their trial."""
    path = max(
        pytester.path.glob(".pytest_cache/d/seatrial-runs/*/journal.jsonl"),
        key=lambda path: path.stat().st_mtime_ns,
    )
    documents = read_journal(path).documents
    found = [codec.load_record(text) for text in documents if json.loads(text)["kind"] == "trial"]
    return {record.nodeid.partition("::")[2]: record for record in found}


def assert_timed_out(record: TrialRecord, message: str) -> None:
    assert record.failure is not None
    assert (record.outcome, record.failure.kind) == (Outcome.ERROR, "timeout")
    assert record.failure.message == message


# -- which limit holds ----------------------------------------------------------------------


@HANGING
def test_the_session_limits_every_trial(
    pytester: pytest.Pytester, safety_tests: SafetyTests, hanging: str, line: str
) -> None:
    safety_tests(hanging.format(arguments=""))
    result = pytester.runpytest_subprocess("--trial-timeout=0.2", timeout=60)
    record = records(pytester)["test_it[trial-0]"]
    assert_timed_out(record, "the trial timed out after 0.2 s (--trial-timeout)")
    assert [found["summary"] for found in record.results] == ["early"]
    result.stdout.fnmatch_lines(
        [
            "    *def test_it():",
            ">*hang()",
            "test_s.py:*: in hang",
            f"    {line}",
            "E*TrialTimeoutError: the trial timed out after 0.2 s (--trial-timeout)",
            "  ERR   test_it[[]trial-0] -- the trial timed out after 0.2 s (--trial-timeout)*",
        ]
    )
    assert "seatrial/plugin" not in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@HANGING
def test_the_configuration_limits_every_trial(
    pytester: pytest.Pytester, safety_tests: SafetyTests, hanging: str, line: str
) -> None:
    safety_tests(hanging.format(arguments=""))
    pytester.makeini("[pytest]\ntrial_timeout = 2e-1\n")
    pytester.runpytest_subprocess(timeout=60)
    assert_timed_out(
        records(pytester)["test_it[trial-0]"], "the trial timed out after 0.2 s (trial_timeout)"
    )


@HANGING
def test_the_marker_beats_the_session(
    pytester: pytest.Pytester, safety_tests: SafetyTests, hanging: str, line: str
) -> None:
    safety_tests(hanging.format(arguments=", timeout_s=0.2"))
    pytester.runpytest_subprocess(NEVER, timeout=60)
    assert_timed_out(
        records(pytester)["test_it[trial-0]"],
        "the trial timed out after 0.2 s (timeout_s on its marker)",
    )


def test_a_marker_may_allow_more_than_the_session(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        """
        import asyncio, threading

        @pytest.mark.trial(n=1, timeout_s=600)
        async def test_async():
            await asyncio.sleep(0.05)
            record("safe")

        @pytest.mark.trial(n=1, timeout_s=600)
        def test_sync():
            threading.Event().wait(0.05)
            record("safe")
        """
    )
    pytester.runpytest("--trial-timeout=0.001").assert_outcomes(passed=2)


def test_fixtures_and_tests_that_are_no_trials_take_the_time_they_need(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        """
        import threading, time

        @pytest.fixture
        async def patient():
            time.sleep(1.1)
            yield
            time.sleep(1.1)

        @pytest.mark.trial(n=1)
        async def test_async(patient): record("safe")

        @pytest.mark.trial(n=1)
        def test_sync(patient_sync): record("safe")

        @pytest.fixture
        def patient_sync(): time.sleep(1.1)

        def test_plain(): time.sleep(1.1)
        """
    )
    pytester.runpytest("--trial-timeout=1").assert_outcomes(passed=3)


def test_evals_are_limited_like_safety_tests(
    pytester: pytest.Pytester, eval_tests: SafetyTests
) -> None:
    eval_tests(
        """
        import asyncio, threading
        from kensa.tracing import record_tool_call

        def harness(case):
            with record_tool_call("lookup"): pass
            threading.Event().wait()

        async def async_harness(case):
            with record_tool_call("lookup"): pass
            await asyncio.Event().wait()

        @pytest.mark.kensa(timeout_s=0.2)
        @pytest.mark.parametrize("case", [kensa_case(id="refund", input="please")])
        def test_sync(case): case.run(harness)

        @pytest.mark.kensa(timeout_s=0.2)
        @pytest.mark.parametrize("case", [kensa_case(id="refund", input="please")])
        async def test_async(case): await case.run(async_harness)
        """
    )
    result = pytester.runpytest_subprocess(timeout=60)
    result.stdout.fnmatch_lines(["ERROR test_e.py::test_sync*0/1 passed, 0 failed, 1 errored"])
    found = records(pytester)
    for name in ("test_sync[refund-trial1]", "test_async[refund-trial1]"):
        record = found[name]
        assert_timed_out(record, "the trial timed out after 0.2 s (timeout_s on its marker)")
        assert record.trace is not None
        assert "lookup" in [span.name for span in record.trace.spans]
        assert isinstance(record.case, dict)
        assert record.case["id"] == "refund"
        assert record.output is None


# -- async ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mark", "mode"),
    [
        ("", "strict"),
        ("", "auto"),
        ("@pytest.mark.anyio", "strict"),
        ("@pytest.mark.anyio", "auto"),
    ],
)
def test_an_async_trial_is_cancelled_whoever_runs_it(
    pytester: pytest.Pytester, safety_tests: SafetyTests, mark: str, mode: str
) -> None:
    safety_tests(
        f"""
        import asyncio

        @pytest.fixture
        def anyio_backend(): return "asyncio"

        class TestAgent:
            @pytest.fixture
            async def agent(self):
                yield "agent"
                record("safe", "torn down")

            {mark}
            @pytest.mark.trial(n=2, threshold=0.5)
            async def test_it(self, agent, request):
                assert agent == "agent"
                try:
                    if "trial-0" in request.node.name: await asyncio.Event().wait()
                finally:
                    record("safe", "left")
        """
    )
    result = pytester.runpytest("--trial-timeout=0.2", f"--asyncio-mode={mode}")
    found = records(pytester)
    assert_timed_out(
        found["TestAgent::test_it[trial-0]"], "the trial timed out after 0.2 s (--trial-timeout)"
    )
    assert found["TestAgent::test_it[trial-1]"].outcome is Outcome.PASSED
    assert [r["summary"] for r in found["TestAgent::test_it[trial-0]"].results] == ["left"]
    result.stdout.fnmatch_lines(["*1 passed, 1 tolerated in *"])


def test_on_trio_an_async_trial_is_cancelled_too(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    pytest.importorskip("trio")
    safety_tests(
        """
        import trio

        @pytest.fixture
        def anyio_backend(): return "trio"

        pytestmark = [pytest.mark.anyio, pytest.mark.trial(n=1)]

        async def test_hangs(): await trio.sleep_forever()

        async def test_breaks():
            try: await trio.sleep_forever()
            finally: raise ValueError("broken off")

        async def test_own_timeout(): raise TimeoutError("the agent's")

        async def test_quick(): record("safe")
        """
    )
    pytester.runpytest("--trial-timeout=0.2").assert_outcomes(passed=1, failed=3)
    found = records(pytester)
    for name in ("test_hangs[trial-0]", "test_breaks[trial-0]"):
        assert_timed_out(found[name], "the trial timed out after 0.2 s (--trial-timeout)")
    own = found["test_own_timeout[trial-0]"].failure
    assert own is not None
    assert own.kind == "exception"


def test_a_timeout_of_the_agents_is_its_own(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        """
        import asyncio

        @pytest.mark.trial(n=1)
        async def test_raised(): raise TimeoutError("the provider is slow")

        @pytest.mark.trial(n=1)
        async def test_expired():
            async with asyncio.timeout(0.01): await asyncio.Event().wait()

        @pytest.mark.trial(n=1)
        async def test_handled():
            try: await asyncio.wait_for(asyncio.Event().wait(), 0.01)
            except TimeoutError: record("safe", "asked again")

        @pytest.mark.trial(n=1)
        def test_sync(): raise TimeoutError("the provider is slow")
        """
    )
    pytester.runpytest(NEVER).assert_outcomes(passed=1, failed=3)
    found = records(pytester)
    assert found["test_handled[trial-0]"].outcome is Outcome.PASSED
    for name, message in (
        ("raised", "TimeoutError: the provider is slow"),
        ("expired", "TimeoutError"),
        ("sync", "TimeoutError: the provider is slow"),
    ):
        failure = found[f"test_{name}[trial-0]"].failure
        assert failure is not None
        assert (failure.kind, failure.message) == ("exception", message)


@pytest.mark.parametrize(
    "ending",
    [
        "record('safe', 'as if nothing were')",
        "assert False, 'too late'",
        "raise ValueError('too late')",
        "raise TimeoutError('too late')",
        "pytest.skip('too late')",
        "await asyncio.sleep(0)",
    ],
)
def test_an_async_trial_that_swallows_its_cancellation_has_timed_out_all_the_same(
    pytester: pytest.Pytester, safety_tests: SafetyTests, ending: str
) -> None:
    safety_tests(
        f"""
        import asyncio

        @pytest.mark.trial(n=1)
        async def test_it():
            try: await asyncio.Event().wait()
            except asyncio.CancelledError: pass
            {ending}
        """
    )
    result = pytester.runpytest("--trial-timeout=0.1")
    result.assert_outcomes(failed=1)
    assert_timed_out(
        records(pytester)["test_it[trial-0]"],
        "the trial timed out after 0.1 s (--trial-timeout)",
    )
    if "raise" in ending or "assert" in ending:
        assert "too late" in result.stdout.str()
    result.stdout.fnmatch_lines([f">*{ending.partition('(')[0]}*", "E*TrialTimeoutError: *"])


def test_an_async_trial_of_many_examples_has_one_limit(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    pytest.importorskip("hypothesis")
    safety_tests(
        """
        import asyncio
        from hypothesis import given, settings, strategies

        @pytest.mark.asyncio
        @pytest.mark.trial(n=1)
        @settings(deadline=None, database=None)
        @given(strategies.integers())
        async def test_it(number):
            await asyncio.Event().wait()

        @pytest.mark.asyncio
        @pytest.mark.trial(n=1, timeout_s=600)
        @settings(deadline=None, database=None, max_examples=3)
        @given(strategies.integers())
        async def test_in_time(number): await asyncio.sleep(0)
        """
    )
    pytester.runpytest("--trial-timeout=0.2").assert_outcomes(passed=1, failed=1)
    assert_timed_out(
        records(pytester)["test_it[trial-0]"],
        "the trial timed out after 0.2 s (--trial-timeout)",
    )


def test_an_async_trial_may_still_end_the_session(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        """
        import asyncio

        @pytest.mark.trial(n=2)
        async def test_it():
            try: await asyncio.Event().wait()
            finally: pytest.exit("no more", returncode=7)
        """
    )
    result = pytester.runpytest("--trial-timeout=0.1")
    result.stdout.fnmatch_lines(["*Exit: no more*"])
    assert result.ret == 7


# -- what a time-out amounts to -------------------------------------------------------------


def test_a_proven_wrong_stays_proven_when_time_runs_out(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        """
        import asyncio, threading

        pytestmark = pytest.mark.trial(n=1)

        async def test_async():
            record("unsafe", "gave in")
            await asyncio.Event().wait()

        def test_sync():
            record("unsafe", "gave in")
            threading.Event().wait()
        """
    )
    pytester.runpytest_subprocess("--trial-timeout=0.2", timeout=60)
    for record in records(pytester).values():
        assert record.outcome is Outcome.FAILED
        assert record.notes == ("timeout: the trial timed out after 0.2 s (--trial-timeout)",)


@HANGING
def test_an_expected_failure_may_be_a_time_out(
    pytester: pytest.Pytester, safety_tests: SafetyTests, hanging: str, line: str
) -> None:
    expected = "\n    pytestmark = pytest.mark.xfail(strict=True)\n"
    safety_tests(hanging.format(arguments=", timeout_s=0.2") + expected)
    pytester.runpytest_subprocess(timeout=60).assert_outcomes(xfailed=1)
    assert records(pytester)["test_it[trial-0]"].outcome is Outcome.SKIPPED


def test_a_rerun_may_replace_a_time_out(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    pytest.importorskip("pytest_rerunfailures")
    safety_tests(
        """
        import asyncio, itertools, threading

        counts = {}

        class TestAgent:
            @pytest.fixture
            def attempt(self, request):
                return next(counts.setdefault(request.node.nodeid, itertools.count(1)))

            @pytest.mark.trial(n=1)
            async def test_async(self, attempt):
                if attempt == 1: await asyncio.Event().wait()
                record("safe")

            @pytest.mark.trial(n=1)
            def test_sync(self, attempt):
                if attempt == 1: threading.Event().wait()
                record("safe")
        """
    )
    result = pytester.runpytest_subprocess("--trial-timeout=0.3", "--reruns=1", timeout=60)
    result.stdout.fnmatch_lines(["*2 passed, 2 rerun in *"])
    assert result.ret == pytest.ExitCode.OK


def test_workers_of_xdist_limit_their_trials(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    pytest.importorskip("xdist")
    safety_tests(
        """
        import asyncio, threading

        @pytest.mark.trial(n=2)
        async def test_async(): await asyncio.Event().wait()

        @pytest.mark.trial(n=2)
        def test_sync(): threading.Event().wait()

        @pytest.mark.trial(n=4)
        def test_quick(): record("safe")
        """
    )
    result = pytester.runpytest_subprocess("-n2", "--trial-timeout=0.3", timeout=120)
    result.assert_outcomes(passed=4, failed=4)
    for name, record in records(pytester).items():
        if "quick" in name:
            assert record.outcome is Outcome.PASSED
        else:
            assert_timed_out(record, "the trial timed out after 0.3 s (--trial-timeout)")


def test_the_item_has_its_own_function_back_when_its_body_has_ended(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        """
        import asyncio

        @pytest.fixture(autouse=True)
        def same_function(request):
            before = request.node.obj
            yield
            assert request.node.obj == before

        class TestAgent:
            @pytest.mark.trial(n=1)
            def test_sync(self): record("safe")

            @pytest.mark.trial(n=1)
            async def test_async(self): record("safe")

            @pytest.mark.trial(n=1, timeout_s=0.1)
            async def test_hanging(self): await asyncio.Event().wait()
        """
    )
    pytester.runpytest(NEVER).assert_outcomes(passed=2, failed=1)


# -- sync -----------------------------------------------------------------------------------


def test_only_a_limit_moves_a_sync_trial_to_a_thread_of_its_own(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        """
        import threading
        from contextvars import ContextVar

        user = ContextVar("user")

        @pytest.fixture
        def signed_in():
            token = user.set("kim")
            yield
            user.reset(token)

        @pytest.mark.trial(n=1)
        def test_free():
            assert threading.current_thread() is threading.main_thread()
            record("safe")

        @pytest.mark.trial(n=1, timeout_s=600)
        def test_limited(signed_in):
            assert threading.current_thread() is not threading.main_thread()
            assert user.get() == "kim"
            record("safe")
        """
    )
    pytester.runpytest().assert_outcomes(passed=2)
    assert all(len(record.results) == 1 for record in records(pytester).values())


@pytest.mark.parametrize(
    "ending",
    [
        "pytest.skip('not here')",
        "pytest.xfail('not yet')",
        "pytest.fail('wrong')",
        "pytest.fail('wrong', pytrace=False)",
        "assert agent() == 'no'",
        "raise ValueError('broken')",
        "pytest.importorskip('no_such_module')",
        "pytest.exit('no more', returncode=7)",
        "raise KeyboardInterrupt",
        "raise SystemExit(3)",
        "raise StopIteration",
        "return 5",
    ],
)
def test_a_sync_trial_ends_in_a_thread_as_it_does_without(
    pytester: pytest.Pytester, safety_tests: SafetyTests, ending: str
) -> None:
    safety_tests(
        f"""
        import warnings

        class TestAgent:
            @pytest.mark.trial(n=2)
            def test_it(self):
                print("asked")
                warnings.warn("slow")
                {ending}

        def agent(): return "yes"
        """
    )
    free = pytester.runpytest_subprocess("-rA")
    limited = pytester.runpytest_subprocess("-rA", NEVER)
    assert limited.ret == free.ret

    def told(result: pytest.RunResult) -> list[str]:
        return [re.sub(r"0x[0-9a-f]+|in [0-9.]+s", "", line) for line in result.outlines]

    assert told(limited) == told(free)


def test_what_a_trials_thread_is_shown_to_do_is_escaped_and_no_longer_than_a_reader_wants(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        r"""
        import threading

        class Hostile:
            def __repr__(self): return "\x1b[2Jcleared"

        @pytest.mark.trial(n=1)
        def test_it(): dive(500)

        def dive(depth):
            if depth: dive(depth - 1)
            else: stand(Hostile())

        def stand(hostile):
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()
        """
    )
    result = pytester.runpytest_subprocess("--trial-timeout=0.5", timeout=60)
    output = result.stdout.str()
    assert "hostile = \\x1b[2Jcleared" in output
    assert "\x1b[2J" not in output
    assert 50 < output.count(": in dive") <= 100
    result.stdout.fnmatch_lines([">*lock.acquire()", "E*TrialTimeoutError: *"])


def test_stopping_at_the_first_failure_waits_for_no_blocked_trial(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        """
        import asyncio, threading
        from concurrent.futures import ThreadPoolExecutor

        @pytest.mark.trial(n=2)
        def test_it():
            with ThreadPoolExecutor() as pool:
                pool.submit(threading.Event().wait).result()

        def test_never_run(): pass
        """
    )
    result = pytester.runpytest_subprocess("-x", "--trial-timeout=0.2", timeout=60)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*stopping after 1 failures*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send SIGINT to one process")
def test_an_interrupt_waits_for_no_blocked_trial(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    ready = pytester.path / "ready"
    os.mkfifo(ready)
    safety_tests(
        f"""
        import threading

        @pytest.mark.trial(n=2)
        def test_it():
            record("safe", "defended")
            open({str(ready)!r}, "w").close()
            threading.Event().wait()
        """
    )
    session = subprocess.Popen(
        [sys.executable, "-m", "pytest", NEVER],
        cwd=pytester.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        ready.open().close()  # returns when the trial has opened the other end
        session.send_signal(signal.SIGINT)
        output, _ = session.communicate(timeout=60)
    finally:
        session.kill()
    assert session.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in output
    (cancelled,) = records(pytester).values()
    assert cancelled.cancelled
    assert [result["summary"] for result in cancelled.results] == ["defended"]


def test_a_limit_longer_than_any_clock_can_wait_is_no_error(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        """
        pytestmark = pytest.mark.trial(n=1)
        def test_sync(): record("safe")
        async def test_async(): record("safe")
        """
    )
    pytester.runpytest("--trial-timeout=1e300").assert_outcomes(passed=2)
