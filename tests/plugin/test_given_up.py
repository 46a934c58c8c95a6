"""What a sync trial's thread still does after its time limit: it reaches nothing and nobody."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from seatrial.journal import read_journal

SafetyTests = Callable[..., None]

LIMIT = "--trial-timeout=0.3"

# The gate opens only when the trial has been given up on, so whatever follows is late.
LATE = """
    import logging, threading, warnings
    from concurrent.futures import ThreadPoolExecutor

    gate, left = threading.Event(), threading.Event()

    def late(do, *arguments):
        gate.wait()
        try: do(*arguments)
        finally: left.set()

    def let_it_go_on():
        gate.set()
        assert left.wait(60)
"""

# Where the late code runs: in the trial's own tear-down, or while another trial runs.
IN_TEARDOWN = """
    @pytest.fixture
    def going_on():
        yield
        let_it_go_on()

    def test_next(): assert False
"""
IN_THE_NEXT_TEST = """
    @pytest.fixture
    def going_on(): pass

    def test_next():
        let_it_go_on()
        assert False
"""
WHEN = pytest.mark.parametrize("when", [IN_TEARDOWN, IN_THE_NEXT_TEST], ids=["tear-down", "next"])


def documents(pytester: pytest.Pytester) -> list[dict[str, object]]:
    (path,) = pytester.path.glob(".pytest_cache/d/seatrial-runs/*/journal.jsonl")
    return [json.loads(text) for text in read_journal(path).documents]


@WHEN
@pytest.mark.parametrize(
    ("doing", "capture"),
    [
        ("record('unsafe', 'LATE')", "fd"),
        ("print('LA' 'TE')", "fd"),
        ("print('LA' 'TE')", "sys"),
        ("logging.getLogger().error('LA' 'TE')", "fd"),
        ("(_ for _ in ()).throw(ValueError('LA' 'TE'))", "fd"),
        ("pytest.exit('LA' 'TE')", "fd"),
    ],
    ids=["result", "output", "output-sys", "log", "error", "exit"],
)
def test_what_a_trial_does_late_changes_nothing(
    pytester: pytest.Pytester, safety_tests: SafetyTests, when: str, doing: str, capture: str
) -> None:
    safety_tests(
        LATE
        + f"""
    @pytest.mark.trial(n=1)
    def test_it(going_on):
        record("undetermined", "early")
        late(act)

    def act(): {doing}
    """
        + when
    )
    result = pytester.runpytest_subprocess(LIMIT, f"--capture={capture}", "-rA", timeout=60)
    result.assert_outcomes(failed=2)
    result.stdout.no_fnmatch_line("*LATE*")
    result.stderr.no_fnmatch_line("*LATE*")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = documents(pytester)
    assert "amendment" not in {document["kind"] for document in found}
    (trial,) = (document for document in found if document["kind"] == "trial")
    assert trial["outcome"] == "error"
    assert "LATE" not in json.dumps(found)


@WHEN
def test_threads_and_executors_of_a_trial_given_up_on_are_given_up_on_too(
    pytester: pytest.Pytester, safety_tests: SafetyTests, when: str
) -> None:
    safety_tests(
        LATE
        + """
    def act():
        gate.wait()
        record("unsafe", "LATE")
        print("LA" "TE")
        raise ValueError("LA" "TE")

    def fan_out():
        thread = threading.Thread(target=act)
        thread.start()
        with ThreadPoolExecutor() as pool: pool.submit(act)
        thread.join()
        later = threading.Thread(target=act)
        later.start()
        later.join()

    @pytest.mark.trial(n=1)
    def test_it(going_on):
        threads = threading.Thread(target=late, args=(fan_out,))
        starter = threading.Thread(target=fan_out)
        starter.start()
        late(starter.join)
    """
        + when
    )
    result = pytester.runpytest_subprocess(LIMIT, "-rA", "-Werror", timeout=60)
    result.assert_outcomes(failed=2)
    result.stdout.no_fnmatch_line("*LATE*")
    assert "amendment" not in {document["kind"] for document in documents(pytester)}


def test_a_late_subtest_is_not_reported(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    if not hasattr(pytest, "Subtests"):
        pytest.skip("this pytest has no subtests")
    safety_tests(
        LATE
        + """
    def act(subtests):
        with subtests.test("LA" "TE"): raise ValueError("LA" "TE")

    @pytest.mark.trial(n=1)
    def test_it(subtests):
        with subtests.test("early"): record("undetermined", "early")
        late(act, subtests)
    """
        + IN_THE_NEXT_TEST
    )
    result = pytester.runpytest_subprocess(LIMIT, "-rA", timeout=60)
    result.stdout.no_fnmatch_line("*LATE*")
    result.stdout.fnmatch_lines(["*2 failed*"])


def test_the_case_of_a_late_harness_keeps_what_was_known_in_time(
    pytester: pytest.Pytester, eval_tests: SafetyTests
) -> None:
    eval_tests(
        LATE
        + """
    from kensa.tracing import record_tool_call

    def harness(case):
        with record_tool_call("early"): pass
        gate.wait()
        try:
            with record_tool_call("LATE"): pass
            return {"answer": "LATE"}
        finally: left.set()

    @pytest.mark.kensa
    @pytest.mark.parametrize("case", [kensa_case(id="refund", input="please")])
    def test_it(case, going_on): case.run(harness)
    """
        + IN_TEARDOWN
    )
    result = pytester.runpytest_subprocess(LIMIT, "--kensa-write-artifacts", timeout=60)
    result.stdout.fnmatch_lines(["ERROR test_e.py::test_it*0/1 passed, 0 failed, 1 errored"])
    (trial,) = (found for found in documents(pytester) if found["kind"] == "trial")
    assert trial["output"] is None
    assert '"early"' in json.dumps(trial["trace"])
    assert "LATE" not in json.dumps(trial)
    artifacts = [path for path in pytester.path.glob(".kensa/**/*") if path.is_file()]
    assert artifacts
    assert not any("LATE" in path.read_text() for path in artifacts)


def test_capturing_fixtures_work_after_a_trial_was_given_up_on(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        LATE
        + """
    import sys
    before = sys.stdout

    @pytest.mark.trial(n=1)
    def test_it(): gate.wait()

    @pytest.mark.parametrize("again", range(2))
    def test_capsys(capsys, again):
        print("heard")
        assert capsys.readouterr().out == "heard\\n"

    def test_capfd(capfd):
        sys.stdout.writelines(["he", "ard"])
        assert capfd.readouterr().out == "heard"

    def test_caplog(caplog):
        logging.getLogger().error("heard")
        assert caplog.messages == ["heard"]

    def test_output():
        print("told the reader")
        print("warned the reader", file=sys.stderr)
        assert False
    """
    )
    result = pytester.runpytest_subprocess(LIMIT, timeout=60)
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(["told the reader", "warned the reader"])


def test_nothing_stays_patched_after_a_session_that_gave_up_on_a_trial(
    pytester: pytest.Pytester, safety_tests: SafetyTests
) -> None:
    safety_tests(
        """
        import threading

        @pytest.mark.trial(n=1)
        def test_it(): threading.Event().wait()
        """
    )
    pytester.makepyfile(
        check="""
        import sys, threading, logging, pytest
        from concurrent.futures import ThreadPoolExecutor

        def state():
            logger = logging.getLogger()
            return (threading.Thread.start, ThreadPoolExecutor.submit, sys.stdout, sys.stderr,
                    threading.excepthook, list(logger.handlers), logger.level)

        before = state()
        assert pytest.main(["--trial-timeout=0.2", "test_s.py"]) == 1
        assert state() == before
        """
    )
    assert pytester.runpython("check.py").ret == 0
