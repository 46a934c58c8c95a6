"""What a killed process had finished is kept, and what it took with it is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seatrial import codec
from seatrial.journal import JournalLines, read_journal
from seatrial.outcome import Outcome

needs_sigkill = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")


def journal(folder: Path) -> JournalLines:
    """The one journal below `folder`, every line of which must be whole."""
    (path,) = folder.glob("**/journal.jsonl")
    lines = read_journal(path)
    assert lines.dropped == 0
    return lines


def kept(folder: Path) -> dict[str, Outcome]:
    """The outcomes that can be read of the one journal below `folder`, by node id."""
    records = {}
    for document in journal(folder).documents:
        match json.loads(document)["kind"]:
            case "trial":
                record = codec.load_record(document)
                records[record.nodeid] = record
            case "amendment":
                amendment = codec.load_amendment(document)
                records[amendment.nodeid] = records[amendment.nodeid].amended(amendment)
    return {nodeid: record.outcome for nodeid, record in records.items()}


# xdist breaks down itself when it sends work to a worker that has just died: a trial dies once the
# controlling process has heard that it began, and so has sent what it had to send.
CONFTEST = """
    import hashlib, os, time
    from pathlib import Path

    def heard(nodeid):
        nodeid = nodeid.partition("@")[0]
        return Path(__file__).with_name(hashlib.sha256(nodeid.encode()).hexdigest())

    def pytest_runtest_logstart(nodeid):
        if "PYTEST_XDIST_WORKER" not in os.environ:
            heard(nodeid).touch()

    def wait_until_heard(nodeid):
        give_up = time.monotonic() + 20
        while not heard(nodeid).exists() and time.monotonic() < give_up:
            time.sleep(0.005)
    """
DEADLY = """
    import os, pytest, signal
    from conftest import wait_until_heard
    from rampart import Result, SafetyStatus, record_result

    def die():
        wait_until_heard(os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0])
        DEATH

    @pytest.fixture
    def deadly_teardown(request):
        yield
        if "trial-1" in request.node.name: die()

    @pytest.mark.trial(n=4, threshold=0.5)
    def test_body(request):
        if "trial-2" in request.node.name: die()
        record_result(Result(status=SafetyStatus.SAFE, summary="defended"))

    @pytest.mark.trial(n=2)
    def test_teardown(deadly_teardown):
        record_result(Result(status=SafetyStatus.SAFE, summary="defended"))

    @pytest.mark.kensa(trials=3)
    def test_eval(request):
        if "trial2" in request.node.name: die()
    """


@pytest.mark.parametrize(
    "death",
    [
        pytest.param("os.kill(os.getpid(), signal.SIGKILL)", marks=needs_sigkill),
        "os._exit(0)",
    ],
)
def test_dying_workers_lose_only_the_trials_that_killed_them(
    pytester: pytest.Pytester, read_results: Callable[..., Any], death: str
) -> None:
    pytest.importorskip("xdist")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_x=DEADLY.replace("DEATH", death))
    result = pytester.runpytest("-n1", "--kensa-write-artifacts")
    lines = set(result.outlines)
    assert {
        "  PASS  test_body[trial-0] -- defended (response_only)",
        "  PASS  test_body[trial-1] -- defended (response_only)",
        "  PASS  test_body[trial-3] -- defended (response_only)",
        "  PASS  test_body [3/4 safe, 75% pass rate, threshold: 50%] -- PASSED",
        "  FAIL  test_teardown [1/2 safe, 50% pass rate, threshold: 100%] -- FAILED",
        "ERROR test_x.py::test_eval: 2/3 passed, 0 failed, 1 errored",
        "  - test_x.py::test_body[trial-2] was lost with its worker",
    } <= lines
    result.stdout.fnmatch_lines(
        [
            "  ERR   test_body[[]trial-2] -- no result recorded; worker 'gw?' crashed while *",
            "  ERR   test_teardown[[]trial-1] -- worker 'gw?' crashed while running *",
            "INCOMPLETE RUN: *",
            "  - worker gw? died: Not properly terminated",
        ]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    ended = kept(pytester.path)
    assert {nodeid.partition("::")[2] for nodeid, o in ended.items() if o is Outcome.ERROR} == {
        "test_body[trial-2]",
        "test_teardown[trial-1]",
        "test_eval[trial2]",
    }
    assert len(ended) == 9
    document = read_results()
    assert not document["complete"]
    assert [trial["status"] for trial in document["trials"]] == ["pass", "error", "pass"]


def test_a_trial_that_xdist_repeats_after_a_crash_is_counted_once(
    pytester: pytest.Pytester,
) -> None:
    pytest.importorskip("xdist")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_x=DEADLY.replace("DEATH", "os._exit(0)"))
    result = pytester.runpytest("-n1", "--dist=loadgroup", "-k", "test_body")
    output = result.stdout.str()
    assert output.count("  ERR   test_body[trial-2] -- ") == 1
    assert output.count("test_body[trial-2] was lost with its worker") == 1
    assert "\nPopulation: 3 runs - " in output
    assert kept(pytester.path)["test_x.py::test_body[trial-2]"] is Outcome.ERROR
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_when_no_worker_is_left_the_trials_that_never_ran_are_named(
    pytester: pytest.Pytester,
) -> None:
    pytest.importorskip("xdist")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_x=DEADLY.replace("DEATH", "os._exit(1)"))
    result = pytester.runpytest("-n1", "--max-worker-restart=0")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    output = result.stdout.str()
    assert "NOT RUN test_x.py::test_eval: 3 lost" in output
    assert "  PASS  test_body [2/4 safe, 50% pass rate, threshold: 50%] -- PASSED" in output
    assert "6 planned trials never ended (" in output
    assert "): test_x.py::test_body[trial-3], test_x.py::test_teardown[trial-0], " in output


def test_a_worker_that_dies_before_its_first_report_leaves_the_raw_ids(
    pytester: pytest.Pytester,
) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(
        test_x="""
        import os, pytest

        @pytest.fixture
        def deadly(): os._exit(1)

        @pytest.mark.trial(n=2)
        def test_it(deadly): pass
        """
    )
    result = pytester.runpytest("-n1", "--max-worker-restart=0")
    result.stdout.fnmatch_lines(
        [
            "INCOMPLETE RUN: *",
            "  - worker gw0 died: *",
            "  - 2 planned trials never ended (*): test_x.py::test_it[[]trial-0], test_x.py::*",
        ]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_trial_that_kills_its_worker_before_the_plan_is_known_has_its_record(
    pytester: pytest.Pytester,
) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(
        test_x="""
        import os, pytest

        @pytest.mark.kensa(trials=3)
        def test_it(request):
            if "trial1" in request.node.name: os._exit(1)
        """
    )
    result = pytester.runpytest("-n1")
    outcomes = kept(pytester.path)
    assert outcomes.pop("test_x.py::test_it[trial1]") is Outcome.ERROR
    assert set(outcomes.values()) == {Outcome.PASSED}
    assert len(outcomes) == 2
    assert "ERROR test_x.py::test_it: 2/3 passed, 0 failed, 1 errored" in result.outlines
    result.stdout.no_fnmatch_line("*never ended*")


@needs_sigkill
@pytest.mark.parametrize("arguments", [[], ["-n2"]])
def test_a_killed_session_leaves_every_finished_trial_in_its_journal(
    pytester: pytest.Pytester, arguments: list[str]
) -> None:
    if arguments:
        pytest.importorskip("xdist")
    pytester.makepyfile(
        test_x="""
        import os, pytest, signal
        from rampart import Result, SafetyStatus, record_result

        @pytest.mark.trial(n=3)
        def test_it():
            record_result(Result(status=SafetyStatus.SAFE, summary="defended"))
        """
    )
    pytester.makeconftest(
        """
        import os, pytest, signal

        seen = []

        @pytest.hookimpl(trylast=True)
        def pytest_runtest_logreport(report):
            if report.when == "teardown" and "PYTEST_XDIST_WORKER" not in os.environ:
                seen.append(report.nodeid)
                if len(seen) == 2:
                    os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    session = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=pytester.path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert session.returncode == -9
    ended = kept(pytester.path)
    assert len(ended) >= 2
    assert set(ended.values()) == {Outcome.PASSED}
    kinds = [json.loads(document)["kind"] for document in journal(pytester.path).documents]
    assert kinds.count("plan") == 1
    assert kinds.count("started") >= len(ended)


ORDINARY = """
    import pytest

    @pytest.mark.trial(n=2)
    def test_it(): pass
    """


@pytest.fixture
def temporary_folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a session finds the temporary folder of the machine."""
    folder = pytester.mkdir("machine")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_without_a_cache_the_journal_is_kept_in_the_users_temporary_folder(
    pytester: pytest.Pytester, temporary_folder: Path
) -> None:
    pytester.makepyfile(ORDINARY)
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.OK
    assert len(kept(temporary_folder)) == 2
    assert not (pytester.path / ".pytest_cache").exists()


def test_a_cache_that_cannot_be_written_loses_no_run(
    pytester: pytest.Pytester, temporary_folder: Path
) -> None:
    pytester.makepyfile(ORDINARY)
    (pytester.path / ".pytest_cache").write_text("not a folder")
    result = pytester.runpytest("-W", "ignore::pytest.PytestCacheWarning")
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.OK
    assert len(kept(temporary_folder)) == 2


def test_a_journal_that_cannot_be_written_stops_the_run_and_fails_it(
    pytester: pytest.Pytester, temporary_folder: Path
) -> None:
    pytester.makepyfile(ORDINARY)
    temporary_folder.rmdir()
    temporary_folder.write_text("not a folder")
    result = pytester.runpytest("-p", "no:cacheprovider", "-s")
    result.stdout.fnmatch_lines(["PROBLEM: the journal could not take the plan: *machine*"])
    assert result.ret != pytest.ExitCode.OK


def test_only_the_newest_runs_are_kept(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ORDINARY)
    runs = pytester.path / ".pytest_cache" / "d" / "seatrial-runs"
    for number in range(30):
        folder = runs / f"2020010{number:03}"
        folder.mkdir(parents=True)
        (folder / "journal.jsonl").touch()
    pytester.runpytest()
    folders = sorted(path.name for path in runs.glob("2*"))
    assert len(folders) == 20
    assert folders[0] == "2020010011"
