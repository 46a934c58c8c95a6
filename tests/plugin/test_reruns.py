"""Reruns by pytest-rerunfailures: they may replace an error, never a proven wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from seatrial import codec
from seatrial.journal import read_journal
from seatrial.outcome import Outcome

pytest.importorskip("pytest_rerunfailures")

TESTS = """
    import itertools

    # How often each trial ran; reruns stay in their process.
    counts = {}

    @pytest.fixture
    def attempt(request):
        counter = counts.setdefault(request.node.nodeid, itertools.count(1))
        return next(counter)

    @pytest.fixture
    def connection(attempt):
        if attempt == 1: raise ConnectionError("refused")

    @pytest.mark.trial(n=2)
    def test_error_then_safe(attempt):
        if attempt == 1: raise TimeoutError("provider")
        record("safe", "defended")

    @pytest.mark.trial(n=1)
    def test_setup_error_then_safe(connection): record("safe", "defended")

    @pytest.mark.trial(n=1)
    def test_unsafe_then_safe(attempt):
        record("unsafe" if attempt == 1 else "safe", f"attempt {attempt}")
        assert attempt > 1

    @pytest.mark.trial(n=1)
    def test_error_then_unsafe(attempt):
        if attempt == 1: raise TimeoutError("provider")
        record("unsafe", "gave in")
        assert False

    @pytest.mark.trial(n=1)
    def test_always_an_error(): raise TimeoutError("provider")
"""
EVALS = """
    import itertools

    counts = itertools.count(1)

    @pytest.mark.kensa
    def test_fails_then_passes(): assert next(counts) > 1

    errors = itertools.count(1)

    @pytest.mark.kensa
    def test_errors_then_passes():
        if next(errors) == 1: raise TimeoutError("provider")
"""


def recorded(folder: Path) -> dict[str, list[tuple[int, Outcome]]]:
    """Every attempt that the journal below `folder` holds, by test name."""
    (path,) = folder.glob(".pytest_cache/d/seatrial-runs/*/journal.jsonl")
    attempts: dict[str, list[tuple[int, Outcome]]] = {}
    for document in read_journal(path).documents:
        if json.loads(document)["kind"] == "trial":
            record = codec.load_record(document)
            name = record.nodeid.partition("::")[2]
            attempts.setdefault(name, []).append((record.attempt, record.outcome))
    return attempts


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_a_rerun_replaces_an_error_and_no_unsafe(
    pytester: pytest.Pytester, safety_tests: Callable[..., None], workers: list[str]
) -> None:
    if workers:
        pytest.importorskip("xdist")
    safety_tests(TESTS)
    result = pytester.runpytest("--reruns=1", *workers)
    lines = set(result.outlines)
    assert {
        "  PASS  test_error_then_safe [2/2 safe, 100% pass rate, threshold: 100%] -- PASSED",
        "  PASS  test_setup_error_then_safe[trial-0] -- defended (response_only)",
        "  FAIL  test_unsafe_then_safe[trial-0] -- attempt 1 (response_only)",
        "  FAIL  test_error_then_unsafe[trial-0] -- gave in (response_only)",
        "  ERR   test_always_an_error[trial-0] -- no result recorded; TimeoutError: provider",
    } <= lines
    assert recorded(pytester.path) == {
        "test_error_then_safe[trial-0]": [(1, Outcome.ERROR), (2, Outcome.PASSED)],
        "test_error_then_safe[trial-1]": [(1, Outcome.ERROR), (2, Outcome.PASSED)],
        "test_setup_error_then_safe[trial-0]": [(1, Outcome.ERROR), (2, Outcome.PASSED)],
        "test_unsafe_then_safe[trial-0]": [(1, Outcome.FAILED), (2, Outcome.PASSED)],
        "test_error_then_unsafe[trial-0]": [(1, Outcome.ERROR), (2, Outcome.FAILED)],
        "test_always_an_error[trial-0]": [(1, Outcome.ERROR), (2, Outcome.ERROR)],
    }
    assert result.parseoutcomes()["rerun"] == 6
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_errors_that_reruns_repaired_fail_no_session(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(TESTS)
    result = pytester.runpytest("--reruns=1", "-k", "error_then_safe")
    assert result.parseoutcomes() == {"passed": 3, "rerun": 3, "deselected": 3}
    assert "Population: 3 runs - 0 unsafe (0.0% attack success rate)" in result.stdout.str()
    assert result.ret == pytest.ExitCode.OK


def test_an_unsafe_that_a_rerun_did_not_repeat_fails_the_session(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(TESTS)
    result = pytester.runpytest("--reruns=1", "-k", "unsafe_then_safe")
    assert result.parseoutcomes() == {"failed": 1, "rerun": 1, "deselected": 5}
    result.stdout.fnmatch_lines(["attempt 1 was UNSAFE: assert 1 > 1; a rerun cannot undo it"])
    assert "  FAIL  test_unsafe_then_safe[trial-0] -- attempt 1 (response_only)" in result.outlines
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("workers", [[], ["-n2"], ["-n2", "--dist=loadgroup"]])
@pytest.mark.parametrize("later", ["pass", "pytest.skip('later')", "pytest.xfail('later')"])
def test_a_plain_safety_test_that_was_unsafe_stays_failed(
    pytester: pytest.Pytester,
    safety_tests: Callable[..., None],
    workers: list[str],
    later: str,
) -> None:
    if workers:
        pytest.importorskip("xdist")
    safety_tests(
        f"""
        counts = []

        @pytest.mark.harm("jailbreak")
        @pytest.mark.xdist_group("theirs")
        def test_plain():
            counts.append(1)
            if len(counts) > 1: {later}
            record("unsafe" if len(counts) == 1 else "safe", "attempt %d" % len(counts))
            assert len(counts) > 1

        others = []

        def test_of_others():
            others.append(1)
            assert len(others) > 1
        """
    )
    result = pytester.runpytest("--reruns=1", *workers)
    assert result.parseoutcomes() == {"passed": 1, "failed": 1, "rerun": 2}
    assert "  FAIL  test_plain -- attempt 1 (response_only)" in result.outlines
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_reruns_of_a_trial_that_its_group_would_tolerate_count_as_one_trial(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(
        """
        @pytest.mark.trial(n=2, threshold=0.5)
        def test_it(request):
            if "trial-0" in request.node.name: raise TimeoutError("provider")
            record("safe")
        """
    )
    result = pytester.runpytest("--reruns=2")
    assert "  PASS  test_it [1/2 safe, 50% pass rate, threshold: 50%] -- PASSED" in result.outlines
    assert [outcome for _, outcome in recorded(pytester.path)["test_it[trial-0]"]] == [
        Outcome.ERROR
    ] * 3
    assert result.ret == pytest.ExitCode.OK


def test_a_rerun_replaces_an_error_of_the_teardown(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(
        """
        seen = []

        @pytest.fixture
        def closes_badly():
            yield
            seen.append(1)
            if len(seen) == 1: raise OSError("would not close")

        @pytest.mark.trial(n=1)
        def test_it(closes_badly):
            record("safe", f"after {len(seen)}")
        """
    )
    result = pytester.runpytest("--reruns=1")
    assert "  PASS  test_it[trial-0] -- after 1 (response_only)" in result.outlines
    assert len(recorded(pytester.path)["test_it[trial-0]"]) == 2
    assert result.ret == pytest.ExitCode.OK


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_a_rerun_replaces_an_evals_error_and_no_fail(
    pytester: pytest.Pytester, eval_tests: Callable[..., None], workers: list[str]
) -> None:
    if workers:
        pytest.importorskip("xdist")
    eval_tests(EVALS)
    result = pytester.runpytest("--reruns=1", *workers)
    assert {
        "1/2 aggregate case(s) passed",
        "FAIL test_e.py::test_fails_then_passes: 0/1 passed, 1 failed, 0 errored",
        "PASS test_e.py::test_errors_then_passes: 1/1 passed, 0 failed, 0 errored",
    } <= set(result.outlines)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
