"""Under pytest-xdist, every distribution mode says what one process says."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("xdist")

MODES = ["load", "loadscope", "loadfile", "loadgroup", "worksteal"]

CONFTEST = """
    import pytest
    from rampart.reporting import JsonFileReportSink

    def pytest_rampart_sinks(config):
        return [JsonFileReportSink(output_dir=config.rootpath / "reports")]

    @pytest.fixture
    def trial(request):
        return int("".join(c for c in request.node.name.rpartition("trial")[2] if c.isdigit()))

    @pytest.fixture
    def kensa_run():
        return lambda case: {"answer": case.input}
    """

SAFETY = """
    import pytest
    from rampart import ObservabilityLevel, Result, SafetyStatus, record_result

    def record(status, summary="said so"):
        record_result(Result(status=SafetyStatus(status), summary=summary,
                             observability_level=ObservabilityLevel.TOOL_ONLY))

    @pytest.fixture
    def broken(): raise ConnectionError("no database")

    @pytest.fixture
    def breaks_later(trial):
        yield
        if trial == 0: raise OSError("cannot clean up")

    pytestmark = pytest.mark.harm("exfiltration")

    @pytest.mark.trial(n=2)
    def test_safe(): record("safe", "defended")

    @pytest.mark.trial(n=11, threshold=0.5)
    def test_unsafe(trial): record("unsafe" if trial == 10 else "safe", f"trial {trial}")

    @pytest.mark.trial(n=4, threshold=0.5)
    def test_tolerated(trial):
        if trial == 1: raise RuntimeError("net down")
        record("undetermined" if trial == 2 else "safe")

    @pytest.mark.trial(n=3, threshold=0.5)
    def test_misses_too_often(trial):
        record("undetermined" if trial else "safe")

    @pytest.mark.trial(n=2)
    @pytest.mark.parametrize("letter", ["a", "b"])
    def test_asserts(letter, trial):
        record("safe")
        assert (letter, trial) != ("b", 1), "not as it should be"

    @pytest.mark.trial(n=2)
    def test_error_in_setup(broken): pass

    @pytest.mark.trial(n=4, threshold=0.75)
    def test_error_in_teardown(breaks_later): record("safe")

    @pytest.fixture
    def finds_later(trial):
        yield
        record("unsafe" if trial == 1 else "safe", "left behind")

    @pytest.mark.trial(n=2)
    def test_unsafe_in_teardown(finds_later): record("safe")

    @pytest.mark.trial(n=2)
    def test_skipped(trial):
        if trial: pytest.skip("not today")
        record("safe")

    @pytest.mark.trial(n=2)
    @pytest.mark.skip(reason="never")
    def test_all_skipped(): pass

    @pytest.mark.trial(n=2)
    @pytest.mark.xfail(reason="known")
    def test_expected_failure():
        record("unsafe")
        assert False
    """

PLAIN = """
    import pytest
    from rampart import Result, SafetyStatus, record_result

    @pytest.mark.xdist_group("together")
    @pytest.mark.parametrize("letter", ["a", "b"])
    @pytest.mark.harm("jailbreak", "memory")
    def test_plain_harm(letter): record_result(Result(status=SafetyStatus.SAFE, summary="defended"))

    @pytest.mark.harm("jailbreak")
    def test_plain_harm_fails():
        result = Result(status=SafetyStatus.UNSAFE, summary="gave in")
        record_result(result)
        assert result.safe

    def test_nothing_to_do_with_us(): pass

    def test_fails_on_its_own(): assert False
    """

EVALS = """
    import pytest
    from kensa.pytest import judge, kensa_case

    @pytest.fixture
    def broken(): raise ConnectionError("no database")

    @pytest.mark.kensa(trials=2)
    @pytest.mark.parametrize("case", [kensa_case(id=name, input=name) for name in
        ("passes", "fails", "flaky", "errors", "skips", "partly")])
    def test_eval(case, kensa_run, trial):
        output = case.run(kensa_run)
        assert output == {"answer": case.id}
        if case.id == "fails": assert False, "always"
        if case.id == "flaky": assert trial == 1
        if case.id == "errors": raise ValueError("harness")
        if case.id == "skips": pytest.skip("none")

    @pytest.mark.kensa(trials=2)
    def test_setup_error(broken): pass

    @pytest.mark.kensa(trials=2)
    def test_unjudged(): assert judge("an answer", "a criterion").passed

    @pytest.mark.kensa(trials=2)
    @pytest.mark.xfail(strict=True, reason="known")
    def test_unexpected_pass(): pass
    """


@pytest.fixture
def every_outcome(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        "[pytest]\naddopts = --kensa-no-judge --deselect=test_e.py::test_eval[partly-trial2]"
    )
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_s=SAFETY, test_p=PLAIN, test_e=EVALS)


def section(lines: list[str], title: str) -> list[str]:
    """The lines from the one that has `title` to the next separator."""
    starts = [place for place, line in enumerate(lines) if title in line and "===" in line]
    assert len(starts) == 1, f"{len(starts)} sections {title!r}"
    taken = [lines[starts[0]]]
    for line in lines[starts[0] + 1 :]:
        if line.startswith("==="):
            break
        taken.append(line)
    return taken


def shown(result: pytest.RunResult) -> tuple[Any, ...]:
    """What a reader learns of a run, whatever order its trials ran in."""
    outcomes = result.parseoutcomes()
    outcomes.pop("deselected", None)  # xdist counts none
    return (
        section(result.outlines, "RAMPART Safety Summary"),
        section(result.outlines, "Kensa summary"),
        outcomes,
        result.ret,
    )


def without_times(document: Any) -> Any:
    """A results document without what two runs cannot share."""
    if isinstance(document, dict):
        return {
            name: without_times(value)
            for name, value in document.items()
            if not re.search(r"duration|started|_at$|run_id|_ms|_nano|_id$", name)
        }
    return [without_times(item) for item in document] if isinstance(document, list) else document


def run(pytester: pytest.Pytester, *arguments: str) -> tuple[Any, ...]:
    """One run of the project: what was shown, and its one report and one results file."""
    name = "-".join(argument.strip("-") for argument in arguments) or "serial"
    result = pytester.runpytest(
        "--kensa-write-artifacts", f"--kensa-artifact-dir={name}", *arguments
    )
    (results,) = (pytester.path / name / "results").glob("*.json")
    (report,) = (pytester.path / "reports").glob("*.json")
    rampart_report = json.loads(report.read_text())
    report.unlink()
    assert "INCOMPLETE" not in result.stdout.str()
    metadata = rampart_report.pop("metadata")
    assert metadata.get("xdist_active", False) == bool(arguments)
    return (
        *shown(result),
        without_times(rampart_report),
        without_times(json.loads(results.read_text())),
    )


@pytest.mark.usefixtures("every_outcome")
def test_every_distribution_mode_gives_what_one_process_gives(pytester: pytest.Pytester) -> None:
    serial = run(pytester)
    safety, evals, outcomes, status, *_ = serial
    assert "  FAIL  test_unsafe[trial-10] -- trial 10 (tool_only)" in safety
    assert "  PASS  test_tolerated [2/4 safe, 50% pass rate, threshold: 50%] -- PASSED" in safety
    assert "  FAIL  test_unsafe_in_teardown[trial-1] -- left behind (tool_only)" in safety
    verdicts = {line.partition(" test_e")[0] for line in evals if " test_e" in line}
    assert verdicts == {"PASS", "FAIL", "FLAKY", "ERROR", "INCONCLUSIVE", "PARTIAL", "NOT RUN"}
    assert "FLAKY test_e.py::test_eval[flaky]: 1/2 passed, 1 failed, 0 errored" in evals
    assert (outcomes["tolerated"], outcomes["unjudged"]) == (4, 2)
    assert status == pytest.ExitCode.TESTS_FAILED
    for mode in MODES:
        parallel = run(pytester, "-n2", f"--dist={mode}")
        for ours, theirs in zip(parallel, serial, strict=True):
            assert ours == theirs, mode


@pytest.mark.usefixtures("every_outcome")
def test_each_counts_every_trial_once_as_its_worst_copy(pytester: pytest.Pytester) -> None:
    serial = shown(pytester.runpytest())
    each = shown(pytester.runpytest("--dist=each", "--tx=2*popen"))
    assert each[:2] == serial[:2]
    assert each[3] == serial[3]


def journal_lines(folder: Path) -> Iterator[dict[str, Any]]:
    (path,) = folder.glob(".pytest_cache/d/seatrial-runs/*/journal.jsonl")
    for line in path.read_text().splitlines():
        yield json.loads(line.partition(" ")[2])


def test_the_journal_holds_the_plan_once_and_every_record(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.trial(n=5)
        def test_it(): pass
        """
    )
    pytester.runpytest("-n2")
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for document in journal_lines(pytester.path):
        kinds[document["kind"]].append(document)
    assert [len(plan["trials"]) for plan in kinds["plan"]] == [5]
    assert len({record["nodeid"] for record in kinds["trial"]}) == len(kinds["trial"]) == 5


GROUPED = """
    import os, pytest
    from rampart import Result, SafetyStatus, record_result

    def record_worker():
        worker = os.environ["PYTEST_XDIST_WORKER"]
        record_result(Result(status=SafetyStatus.SAFE, summary=f"on {worker}"))

    @pytest.mark.trial(n=4)
    @pytest.mark.parametrize("letter", "abcdef")
    def test_ours(letter): record_worker()

    @pytest.mark.xdist_group("theirs")
    class TestTheirs:
        @pytest.mark.trial(n=3)
        def test_one(self): record_worker()
        @pytest.mark.trial(n=3)
        def test_two(self): record_worker()
        @pytest.mark.trial(n=3)
        def test_three(self): record_worker()
    """


def workers_by_test(result: pytest.RunResult) -> dict[str, set[str]]:
    workers = defaultdict(set)
    for line in result.outlines:
        found = re.match(r"  PASS  (\w+)\[(?:(\w)-)?trial-\d+\] -- on (\w+)", line)
        if found:
            workers[f"{found[1]}{found[2] or ''}"].add(found[3])
    return dict(workers)


def test_loadgroup_keeps_the_trials_of_a_group_on_one_worker(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(GROUPED)
    result = pytester.runpytest("-n2", "--dist=loadgroup")
    result.assert_outcomes(passed=33)
    workers = workers_by_test(result)
    ours = [workers[f"test_ours{letter}"] for letter in "abcdef"]
    assert all(len(group) == 1 for group in ours)
    # Each worker begins with a group, whichever it is.
    assert set.union(*workers.values()) == {"gw0", "gw1"}


def test_a_users_own_group_wins(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(GROUPED)
    workers = workers_by_test(pytester.runpytest("-n2", "--dist=loadgroup"))
    theirs = [workers[name] for name in ("test_one", "test_two", "test_three")]
    assert len(set.union(*theirs)) == 1


def test_a_fail_fast_run_is_incomplete_under_xdist_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.kensa(trials=40)
        def test_it(): assert False, "always"
        """
    )
    result = pytester.runpytest("-n2", "-x")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["INCOMPLETE RUN*", "  - * planned trials never ended (*"])


ODD_VALUES = r"""
    import enum, math, pytest
    from kensa.pytest import judge, kensa_case
    from rampart import Request, Response, Result, SafetyStatus, Turn, record_result

    class Colour(enum.Enum):
        RED = 1

    class Broken:
        def __repr__(self): raise RuntimeError("no")

    @pytest.fixture
    def kensa_run():
        return lambda case: {"text": case.input, "n": 2 ** 64}

    @pytest.mark.kensa(trials=2)
    @pytest.mark.parametrize("case", [
        kensa_case(id="huge", input="x" * 5_000_000),
        kensa_case(id="surrogate", input="lone \ud800 \udfff"),
        kensa_case(id="escape", input="\x1b[2J\x00\r\n\u202e"),
    ])
    def test_eval(case, kensa_run):
        assert case.run(kensa_run)["text"] == case.input

    @pytest.mark.trial(n=2)
    def test_safety():
        ring = []
        ring.append(ring)
        record_result(Result(
            status=SafetyStatus.SAFE,
            summary="\ud800\x1b[2J" + "y" * 5_000_000,
            metadata={"nan": math.nan, "ring": ring, "enum": Colour.RED, "object": Broken(),
                      3: {1, 2}, "bytes": b"\xff", "huge": 2 ** 20_000},
        ))
    """


def test_huge_and_odd_values_travel_from_workers(
    pytester: pytest.Pytester, read_results: Callable[..., Any]
) -> None:
    pytester.makepyfile(test_odd=ODD_VALUES)
    result = pytester.runpytest("-n2", "--kensa-write-artifacts")
    result.assert_outcomes(passed=8)
    result.stdout.fnmatch_lines([r"  PASS  test_safety[[]trial-0] -- \ud800\x1b[[]2Jyyy*"])
    cases = {trial["case_id"]: trial for trial in read_results()["trials"]}
    assert cases["surrogate"]["output"]["text"] == "lone \ud800 \udfff"
    assert cases["escape"]["output"]["text"] == "\x1b[2J\x00\r\n\u202e"
    assert len(cases["huge"]["output"]["text"]) == 5_000_000
    assert result.ret == pytest.ExitCode.OK


def test_a_suite_without_our_tests_prints_and_keeps_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest("-n2")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*Summary*")
    assert not list(pytester.path.glob(".pytest_cache/d/seatrial-runs/*"))
