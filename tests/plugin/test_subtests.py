"""Subtests are parts of their trial: it leaves one record, and no failed part of it is lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest

from seatrial.journal import read_journal

if pytest.version_tuple < (9, 0):
    pytest.importorskip("pytest_subtests")

TESTS = """
    @pytest.mark.trial(n=2)
    def test_passing(subtests):
        for number in range(3):
            with subtests.test(number=number): record("safe", f"part {number}")

    @pytest.mark.trial(n=2, threshold=0.5)
    def test_tolerated(subtests, request):
        with subtests.test("part"):
            if "trial-0" in request.node.name: raise RuntimeError("net down")
        with subtests.test("other part"): pass
        record("safe", "defended")
"""


def records_per_trial(pytester: pytest.Pytester) -> Counter[str]:
    (path,) = pytester.path.glob(".pytest_cache/d/seatrial-runs/*/journal.jsonl")
    documents = map(json.loads, read_journal(path).documents)
    return Counter(d["nodeid"] for d in documents if d["kind"] == "trial")


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_an_error_in_a_subtest_is_its_trials_and_may_be_tolerated(
    pytester: pytest.Pytester, safety_tests: Callable[..., None], workers: list[str]
) -> None:
    if workers:
        pytest.importorskip("xdist")
    safety_tests(TESTS)
    result = pytester.runpytest("-rA", *workers)
    assert {
        "  PASS  test_passing[trial-1] -- part 0 (response_only)",
        "  ERR   test_tolerated[trial-0] -- RuntimeError: net down (response_only) [tolerated]",
        "  PASS  test_tolerated [1/2 safe, 50% pass rate, threshold: 50%] -- PASSED",
    } <= set(result.outlines)
    result.stdout.fnmatch_lines(["=* TOLERATED =*", "E * RuntimeError: net down"])
    assert set(records_per_trial(pytester).values()) == {1}
    assert result.ret == pytest.ExitCode.OK


def test_an_error_in_a_subtest_fails_a_group_that_tolerates_none(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(TESTS.replace("threshold=0.5", "threshold=1.0"))
    result = pytester.runpytest()
    assert (
        "  FAIL  test_tolerated [1/2 safe, 50% pass rate, threshold: 100%] -- FAILED"
        in result.outlines
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_an_assertion_in_a_subtest_is_a_fail_whatever_follows_it(
    pytester: pytest.Pytester,
    safety_tests: Callable[..., None],
    eval_tests: Callable[..., None],
) -> None:
    safety_tests(
        """
        @pytest.mark.trial(n=1)
        def test_safety(subtests):
            with subtests.test("wrong"): assert False, "gave in"
            with subtests.test("broken"): raise RuntimeError("net down")
        """
    )
    eval_tests(
        """
        @pytest.mark.kensa
        def test_fails(subtests):
            with subtests.test("wrong"): assert False, "wrong answer"
            with subtests.test("right"): pass

        @pytest.mark.kensa
        def test_errors(subtests):
            with subtests.test("broken"): raise RuntimeError("net down")

        @pytest.mark.kensa
        def test_skips_a_part(subtests):
            with subtests.test("skipped"): pytest.skip("not here")
        """
    )
    result = pytester.runpytest()
    assert {
        "  FAIL  test_safety[trial-0] -- no result recorded; gave in",
        "FAIL test_e.py::test_fails: 0/1 passed, 1 failed, 0 errored",
        "ERROR test_e.py::test_errors: 0/1 passed, 0 failed, 1 errored",
        "PASS test_e.py::test_skips_a_part: 1/1 passed, 0 failed, 0 errored",
    } <= set(result.outlines)
    assert set(records_per_trial(pytester).values()) == {1}
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_failed_subtest_of_an_earlier_attempt_is_not_held_against_a_rerun(
    pytester: pytest.Pytester, eval_tests: Callable[..., None]
) -> None:
    pytest.importorskip("pytest_rerunfailures")
    eval_tests(
        """
        seen = []

        @pytest.mark.kensa
        def test_it(subtests):
            seen.append(1)
            with subtests.test("broken"):
                if len(seen) == 1: raise RuntimeError("net down")
        """
    )
    result = pytester.runpytest("--reruns=1")
    assert "PASS test_e.py::test_it: 1/1 passed, 0 failed, 0 errored" in result.outlines
