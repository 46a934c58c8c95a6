"""Trials are ordinary items to pytest: selected, stopped, interrupted and shown as such."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from seatrial import codec
from seatrial.journal import read_journal
from seatrial.outcome import Outcome
from seatrial.trial import TrialRecord

MIXED = """
    @pytest.fixture
    def trial(request): return int(request.node.name.rpartition("-")[2].rstrip("]"))

    @pytest.mark.trial(n=3, threshold=0.3)
    def test_tolerant(trial):
        if trial < 2: raise RuntimeError("net down")
        record("safe")

    @pytest.mark.trial(n=3)
    def test_failing(trial): record("unsafe" if trial == 1 else "safe")

    def test_plain(): pass
"""
FAILING_GROUP = [f"test_s.py::test_failing[trial-{index}]" for index in range(3)]


def listed(result: pytest.RunResult) -> list[str]:
    """The node ids that `--collect-only -q` printed."""
    return [line for line in result.outlines if line.startswith("test_") and "::" in line]


# -- stopping early -------------------------------------------------------------------------


def test_maxfail_counts_failed_trials_and_no_tolerated_one(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(MIXED)
    safety_tests(
        """
        @pytest.mark.trial(n=4)
        def test_later(): assert False
        """,
        "test_z",
    )
    result = pytester.runpytest("--maxfail=2")
    assert result.parseoutcomes() == {"tolerated": 2, "passed": 4, "failed": 2}
    result.stdout.fnmatch_lines(
        [
            "INCOMPLETE RUN: *",
            "  - 3 planned trials never ended (stopping after 2 failures): "
            "test_z.py::test_later[[]trial-1], *trial-2], *trial-3]",
        ]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_failure_in_the_last_trial_leaves_nothing_missing(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(
        """
        @pytest.mark.trial(n=2)
        def test_it(request): record("unsafe" if "trial-1" in request.node.name else "safe")
        """
    )
    result = pytester.runpytest("-x")
    result.stdout.fnmatch_lines(["*stopping after 1 failures*"])
    result.stdout.no_fnmatch_line("*INCOMPLETE*")
    assert result.ret == pytest.ExitCode.TESTS_FAILED


# -- what failed last -----------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["-n2", "--dist=loadgroup"]])
def test_last_failed_means_whole_groups(
    pytester: pytest.Pytester, safety_tests: Callable[..., None], arguments: list[str]
) -> None:
    if arguments:
        pytest.importorskip("xdist")
    safety_tests(MIXED)
    pytester.runpytest(*arguments)
    assert listed(pytester.runpytest("--lf", "--collect-only", "-q")) == FAILING_GROUP
    again = pytester.runpytest("--lf", *arguments)
    again.stdout.fnmatch_lines(["  FAIL  test_failing [[]2/3 safe, 67%*"])
    assert again.parseoutcomes()["failed"] == 1


def test_failed_first_brings_the_whole_group_to_the_front(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(MIXED)
    pytester.runpytest()
    ids = listed(pytester.runpytest("--ff", "--collect-only", "-q"))
    assert ids[:3] == FAILING_GROUP
    assert len(ids) == 7


def test_a_group_that_passes_again_is_forgotten(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(MIXED)
    pytester.runpytest()
    safety_tests(MIXED.replace('"unsafe" if trial == 1 else "safe"', '"safe"'))
    assert pytester.runpytest("--lf").ret == pytest.ExitCode.OK
    assert len(listed(pytester.runpytest("--lf", "--collect-only", "-q"))) == 7


def test_a_group_that_a_stop_left_out_is_not_among_the_last_failed(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(
        """
        @pytest.mark.trial(n=2)
        def test_first(): record("unsafe")

        @pytest.mark.trial(n=2)
        def test_never_run(): record("safe")
        """
    )
    pytester.runpytest("-x")
    assert listed(pytester.runpytest("--lf", "--collect-only", "-q")) == [
        "test_s.py::test_first[trial-0]",
        "test_s.py::test_first[trial-1]",
    ]


def test_a_file_that_cannot_be_collected_says_nothing_of_the_trials_of_others(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(MIXED)
    pytester.makepyfile(test_broken="import no_such_module")
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(["*No module named 'no_such_module'*"])
    assert "Safety Summary" not in result.stdout.str()
    assert "INCOMPLETE" not in result.stdout.str()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    anyway = pytester.runpytest("--continue-on-collection-errors")
    assert "  FAIL  test_failing[trial-1] -- said so (response_only)" in anyway.outlines
    assert anyway.ret == pytest.ExitCode.TESTS_FAILED


# -- interruption ---------------------------------------------------------------------------

INTERRUPTED = """
    import threading

    @pytest.mark.trial(n=4, threshold=0.25)
    def test_it(request):
        record("safe", "defended")
        if "trial-1" in request.node.name:
            ANNOUNCE
            threading.Event().wait(60)
"""


def records(folder: Path) -> list[TrialRecord]:
    (path,) = folder.glob(".pytest_cache/d/seatrial-runs/*/journal.jsonl")
    documents = read_journal(path).documents
    return [codec.load_record(text) for text in documents if json.loads(text)["kind"] == "trial"]


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send SIGINT to one process")
def test_an_interrupt_keeps_what_ended_and_counts_the_cancelled_trial_as_never_run(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    ready = pytester.path / "ready"
    os.mkfifo(ready)
    announce = f"open({str(ready)!r}, 'w').close()"
    safety_tests(INTERRUPTED.replace("ANNOUNCE", announce))
    session = subprocess.Popen(
        [sys.executable, "-m", "pytest"],
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
    assert "  PASS  test_it[trial-0] -- defended (response_only)" in output
    assert "  FAIL  test_it[trial-1]" not in output
    assert (
        "  - 3 planned trials never ended (the run was interrupted): "
        "test_s.py::test_it[trial-1], test_s.py::test_it[trial-2], test_s.py::test_it[trial-3]"
    ) in output
    finished, cancelled = records(pytester.path)
    assert (finished.outcome, finished.cancelled) == (Outcome.PASSED, False)
    assert (cancelled.nodeid, cancelled.cancelled) == ("test_s.py::test_it[trial-1]", True)
    assert [result["summary"] for result in cancelled.results] == ["defended"]


# -- looking without running ----------------------------------------------------------------


@pytest.mark.parametrize("option", ["--collect-only", "--setup-only", "--setup-plan"])
def test_looking_without_running_judges_nothing_and_keeps_nothing(
    pytester: pytest.Pytester,
    safety_tests: Callable[..., None],
    eval_tests: Callable[..., None],
    option: str,
) -> None:
    safety_tests(MIXED)
    eval_tests(
        """
        @pytest.mark.kensa(trials=2)
        def test_eval(): assert False
        """
    )
    result = pytester.runpytest(option)
    output = result.stdout.str()
    assert "test_failing[trial-1]" in output
    assert "Summary" not in output
    assert "summary" not in output.replace("short test summary", "")
    assert "INCOMPLETE" not in output
    assert not list(pytester.path.glob("**/journal.jsonl"))
    assert result.ret == pytest.ExitCode.OK


# -- how pytest's own reports show trials ---------------------------------------------------


def test_verbose_runs_show_tolerated_trials_with_their_tracebacks_and_durations(
    pytester: pytest.Pytester, safety_tests: Callable[..., None]
) -> None:
    safety_tests(MIXED)
    result = pytester.runpytest("-v", "-rA", "--durations=3", "--durations-min=0")
    result.stdout.fnmatch_lines(
        [
            "*::test_tolerant[[]trial-0] TOLERATED *",
            "*::test_tolerant[[]trial-2] PASSED *",
            "*::test_failing[[]trial-1] FAILED *",
            "=* slowest 3 durations =*",
            "*s * test_s.py::test_*",
            "PASSED test_s.py::test_tolerant[[]trial-2]",
            "FAILED test_s.py::test_failing[[]trial-1]*",
        ],
    )
    text = result.stdout.str()
    assert text.index("= TOLERATED =") < text.index("E       RuntimeError: net down")
    assert "2 tolerated" in result.outlines[-1]


@pytest.mark.parametrize("arguments", [[], ["-n2"]])
def test_junit_holds_one_case_per_trial_with_failures_only_where_a_trial_failed(
    pytester: pytest.Pytester, safety_tests: Callable[..., None], arguments: list[str]
) -> None:
    if arguments:
        pytest.importorskip("xdist")
    safety_tests(MIXED)
    pytester.runpytest("--junitxml=junit.xml", *arguments)
    root = ElementTree.parse(pytester.path / "junit.xml").getroot()
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert len(cases) == 7
    kinds = {
        name: [child.tag for child in case if child.tag != "properties"]
        for name, case in cases.items()
    }
    assert {name: tags for name, tags in kinds.items() if tags} == {
        "test_tolerant[trial-0]": ["skipped"],
        "test_tolerant[trial-1]": ["skipped"],
        "test_failing[trial-1]": ["failure"],
    }
    (suite,) = root.iter("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("7", "1", "2")
