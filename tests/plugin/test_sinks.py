"""Report sinks: where they are found, what they are given, and what happens when they break."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

Write = Callable[..., None]

ONE_PROCESS_AND_XDIST = pytest.mark.parametrize(
    "arguments", [(), ("-n", "2")], ids=["one process", "xdist"]
)
SINK = """
import pytest
from pathlib import Path

class Sink:
    '''Appends a line for every report that it is given.'''
    def __init__(self, name): self.name = name
    async def emit_async(self, *, report):
        with Path(__file__).with_name("emitted").open("a") as file:
            file.write(f"{self.name} {report.total_runs}\\n")

class Broken:
    async def emit_async(self, *, report): raise OSError("disk full")

"""


@pytest.fixture
def project(pytester: pytest.Pytester, safety_tests: Write) -> Callable[..., None]:
    """`project(conftest)` writes two safe trials and a conftest with `Sink` and `Broken`."""

    def write(conftest: str, folder: str = ".") -> None:
        target = pytester.path / folder
        target.mkdir(exist_ok=True)
        target.joinpath("conftest.py").write_text(SINK + dedent(conftest))
        safety_tests(
            """
            @pytest.mark.harm("jailbreak")
            @pytest.mark.trial(n=2)
            def test_it(): record("safe")
            """
        )

    return write


@pytest.fixture
def emitted(pytester: pytest.Pytester) -> Callable[..., list[str]]:
    """`emitted()` gives the lines that sinks appended, sorted."""

    def read(folder: str = ".") -> list[str]:
        path = pytester.path / folder / "emitted"
        return sorted(path.read_text().splitlines()) if path.exists() else []

    return read


# -- the hook -------------------------------------------------------------------------------


@ONE_PROCESS_AND_XDIST
def test_every_implementation_of_the_hook_gets_the_one_report(
    pytester: pytest.Pytester,
    project: Write,
    emitted: Callable[..., list[str]],
    arguments: tuple[str, ...],
) -> None:
    project(
        """
        def pytest_addoption(parser): parser.addoption("--where", default="nowhere")
        def pytest_rampart_sinks(config): return [Sink(config.getoption("--where")), Sink("b")]
        def pytest_configure(config): config.pluginmanager.register(Other())
        class Other:
            def pytest_rampart_sinks(self): return (Sink("c"),)
        """
    )
    result = pytester.runpytest("--where=here", *arguments)
    assert emitted() == ["b 2", "c 2", "here 2"]
    assert result.ret == 0


@ONE_PROCESS_AND_XDIST
def test_a_hook_makes_the_fixture_idle_even_if_it_returns_nothing(
    pytester: pytest.Pytester,
    project: Write,
    emitted: Callable[..., list[str]],
    arguments: tuple[str, ...],
) -> None:
    project(
        """
        def pytest_rampart_sinks(config): return []

        @pytest.fixture(scope="session")
        def rampart_sinks(): return [Sink("fixture")]
        """
    )
    result = pytester.runpytest("-W", "error", *arguments)
    assert emitted() == []
    assert "deprecated" not in result.stdout.str()
    assert result.ret == 0


@ONE_PROCESS_AND_XDIST
def test_a_hook_in_a_nested_conftest_is_heard(
    pytester: pytest.Pytester,
    emitted: Callable[..., list[str]],
    arguments: tuple[str, ...],
) -> None:
    nested = pytester.mkdir("nested")
    nested.joinpath("conftest.py").write_text(
        SINK + "def pytest_rampart_sinks(config): return [Sink('nested')]"
    )
    nested.joinpath("test_n.py").write_text(
        "import pytest\n@pytest.mark.trial(n=2)\ndef test_it():\n"
        "    from rampart import Result, SafetyStatus, record_result\n"
        "    record_result(Result(status=SafetyStatus.SAFE, summary='fine'))\n"
    )
    result = pytester.runpytest(*arguments)
    assert emitted("nested") == ["nested 2"]
    assert result.ret == 0


def test_a_nested_conftest_that_the_controller_cannot_load_fails_the_run_by_name(
    pytester: pytest.Pytester, project: Write
) -> None:
    project(
        """
        import os
        if "PYTEST_XDIST_WORKER" not in os.environ: raise OSError("not on the controller")
        def pytest_rampart_sinks(config): return [Sink('nested')]
        """,
        folder="nested",
    )
    pytester.path.joinpath("test_s.py").rename(pytester.path / "nested/test_s.py")
    result = pytester.runpytest("-n", "2")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["PROBLEM: the report sinks of *nested/conftest.py could not be loaded: *OSError: not on*"]
    )
    assert result.ret == 1


# -- the deprecated fixture -----------------------------------------------------------------


def test_the_fixture_works_in_one_process_and_warns_once(
    pytester: pytest.Pytester, project: Write, emitted: Callable[..., list[str]]
) -> None:
    project(
        """
        @pytest.fixture(scope="session")
        def folder(tmp_path_factory): return tmp_path_factory.mktemp("sinks")

        @pytest.fixture(scope="session")
        def rampart_sinks(folder, request): return [Sink(folder.name)]
        """
    )
    result = pytester.runpytest()
    assert emitted() == ["sinks0 2"]
    assert result.parseoutcomes() == {"passed": 2, "warnings": 1}
    result.stdout.fnmatch_lines(
        ["*DeprecationWarning: the rampart_sinks fixture is deprecated *removed in 0.3.0;*"]
    )
    assert result.ret == 0


def test_a_fixture_without_dependencies_works_under_xdist_and_warns(
    pytester: pytest.Pytester, project: Write, emitted: Callable[..., list[str]]
) -> None:
    project(
        """
        @pytest.fixture(scope="session")
        def rampart_sinks(): return [Sink("fixture")]
        """
    )
    result = pytester.runpytest("-n", "2")
    assert emitted() == ["fixture 2"]
    result.stdout.fnmatch_lines(["*DeprecationWarning: *the rampart_sinks fixture *0.3.0;*"])
    assert result.ret == 0


def test_a_fixture_that_depends_on_others_is_skipped_under_xdist_with_a_warning(
    pytester: pytest.Pytester, project: Write, emitted: Callable[..., list[str]]
) -> None:
    project(
        """
        @pytest.fixture(scope="session")
        def rampart_sinks(tmp_path_factory): return [Sink("fixture")]
        """
    )
    result = pytester.runpytest("-n", "2")
    assert emitted() == []
    result.stdout.fnmatch_lines(
        [
            "*DeprecationWarning: rampart_sinks in *conftest.py: *removed in 0.3.0*",
            "*PytestWarning: rampart_sinks in *conftest.py depends on other fixtures and cannot be"
            " set up with xdist; implement the pytest_rampart_sinks hook instead",
        ]
    )
    assert result.ret == 0


def test_warnings_of_the_controller_that_were_made_errors_fail_the_session(
    pytester: pytest.Pytester, project: Write, emitted: Callable[..., list[str]]
) -> None:
    project(
        """
        @pytest.fixture(scope="session")
        def rampart_sinks(): return [Sink("fixture")]
        """
    )
    result = pytester.runpytest("-n", "2", "-W", "error")
    result.stdout.fnmatch_lines(["PROBLEM: DeprecationWarning: rampart_sinks in *"])
    assert emitted() == ["fixture 2"]
    assert result.ret == 1


def test_the_fixture_is_set_up_although_the_first_safety_test_is_not_the_first_test(
    pytester: pytest.Pytester, project: Write, emitted: Callable[..., list[str]]
) -> None:
    project(
        """
        @pytest.fixture(scope="session")
        def rampart_sinks():
            yield [Sink("yielded")]
        """
    )
    pytester.makepyfile(test_a="def test_plain(): pass")
    result = pytester.runpytest()
    assert emitted() == ["yielded 2"]
    assert result.ret == 0


def test_a_fixture_in_a_nested_conftest_is_found_under_xdist_too(
    pytester: pytest.Pytester, project: Write, emitted: Callable[..., list[str]]
) -> None:
    project(
        """
        @pytest.fixture(scope="session")
        def rampart_sinks(): return [Sink("nested")]
        """,
        folder="nested",
    )
    pytester.path.joinpath("test_s.py").rename(pytester.path / "nested/test_s.py")
    assert pytester.runpytest().ret == 0
    assert emitted("nested") == ["nested 2"]
    assert pytester.runpytest("-n", "2").ret == 0
    assert emitted("nested") == ["nested 2"] * 2


def test_a_module_level_list_is_for_the_controller_of_xdist(
    pytester: pytest.Pytester, project: Write, emitted: Callable[..., list[str]]
) -> None:
    project("rampart_sinks = [Sink('list')]")
    assert pytester.runpytest("-n", "2").ret == 0
    assert emitted() == ["list 2"]
    assert pytester.runpytest().ret == 0
    assert emitted() == ["list 2"]


def test_a_hook_that_is_found_late_makes_the_fixture_idle_all_the_same(
    pytester: pytest.Pytester, project: Write, emitted: Callable[..., list[str]]
) -> None:
    project(
        """
        @pytest.fixture(scope="session")
        def rampart_sinks(): return [Sink("fixture")]
        """
    )
    later = pytester.mkdir("zz_later")
    later.joinpath("conftest.py").write_text(
        SINK + "def pytest_rampart_sinks(config): return [Sink('hook')]"
    )
    later.joinpath("test_z.py").write_text("def test_it(): pass")
    result = pytester.runpytest("-W", "error")
    assert (emitted(), emitted("zz_later")) == ([], ["hook 2"])
    assert result.ret == 0


@pytest.mark.parametrize("value", ["None", "Sink('x')"])
def test_a_fixture_that_gives_no_list_is_named_and_fails_the_session(
    pytester: pytest.Pytester, project: Write, value: str
) -> None:
    project(f"@pytest.fixture\ndef rampart_sinks(): return {value}")
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(
        ["PROBLEM: the fixture rampart_sinks must return a list of report sinks, got *"]
    )
    assert result.ret == 1


def test_a_fixture_that_fails_is_an_error_of_the_test_that_set_it_up(
    pytester: pytest.Pytester, project: Write
) -> None:
    project(
        """
        @pytest.fixture(scope="session")
        def rampart_sinks(): raise OSError("no database")
        """
    )
    result = pytester.runpytest()
    assert "E   OSError: no database" in result.outlines
    assert result.ret == 1


# -- what is wrong with a sink --------------------------------------------------------------


@ONE_PROCESS_AND_XDIST
def test_a_sink_that_raises_stops_no_other_and_fails_the_session_by_name(
    pytester: pytest.Pytester,
    project: Write,
    emitted: Callable[..., list[str]],
    arguments: tuple[str, ...],
) -> None:
    project("def pytest_rampart_sinks(config): return [Broken(), Sink('after')]")
    result = pytester.runpytest(*arguments)
    result.assert_outcomes(passed=2)
    assert emitted() == ["after 2"]
    result.stdout.fnmatch_lines(["PROBLEM: the report sink Broken failed: OSError: disk full"])
    assert result.ret == 1


def test_a_hook_that_raises_stops_no_other_and_fails_the_session_by_file(
    pytester: pytest.Pytester, project: Write, emitted: Callable[..., list[str]]
) -> None:
    project(
        """
        def pytest_rampart_sinks(config): raise KeyError("REPORT_URL")
        def pytest_configure(config): config.pluginmanager.register(Other())
        class Other:
            def pytest_rampart_sinks(self, config): return [Sink("other")]
        """
    )
    result = pytester.runpytest()
    assert emitted() == ["other 2"]
    result.stdout.fnmatch_lines(
        ["PROBLEM: pytest_rampart_sinks in *conftest.py raised KeyError: 'REPORT_URL'"]
    )
    assert result.ret == 1


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("Sink('x')", "must return a list of report sinks, got Sink"),
        ("None", "must return a list of report sinks, got NoneType"),
        ("'path'", "must return a list of report sinks, got str"),
        (
            "[Sink('good'), 5]",
            "returned int, which is not a report sink: it has no emit_async(report)",
        ),
    ],
)
def test_what_is_not_a_list_of_sinks_is_named_and_fails_the_session(
    pytester: pytest.Pytester,
    project: Write,
    emitted: Callable[..., list[str]],
    value: str,
    problem: str,
) -> None:
    project(f"def pytest_rampart_sinks(config): return {value}")
    result = pytester.runpytest()
    result.stdout.fnmatch_lines([f"PROBLEM: pytest_rampart_sinks in *conftest.py {problem}"])
    assert emitted() == (["good 2"] if "good" in value else [])
    assert result.ret == 1


def test_a_sink_that_is_not_async_still_gets_its_report(
    pytester: pytest.Pytester, project: Write
) -> None:
    project(
        """
        class Plain:
            def emit_async(self, *, report): Path("plain").write_text(str(report.total_runs))
        def pytest_rampart_sinks(config): return [Plain()]
        """
    )
    assert pytester.runpytest().ret == 0
    assert pytester.path.joinpath("plain").read_text() == "2"


def test_a_broken_sink_does_not_change_a_status_that_is_not_0(
    pytester: pytest.Pytester, project: Write
) -> None:
    project("def pytest_rampart_sinks(config): return [Broken()]")
    pytester.makepyfile(test_z="import pytest\ndef test_stop(): pytest.exit('enough')")
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(["PROBLEM: the report sink Broken failed: OSError: disk full"])
    assert result.ret == pytest.ExitCode.INTERRUPTED


# -- when nothing is emitted ----------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [("--collect-only",), ("-k", "nothing"), ("-n", "2", "-k", "nothing")]
)
def test_no_report_is_emitted_when_no_safety_test_ran(
    pytester: pytest.Pytester,
    project: Write,
    emitted: Callable[..., list[str]],
    arguments: tuple[str, ...],
) -> None:
    project("def pytest_rampart_sinks(config): return [Sink('x')]")
    pytester.runpytest(*arguments)
    assert emitted() == []


@ONE_PROCESS_AND_XDIST
@pytest.mark.parametrize("face", ["rampart", "kensa"])
def test_a_project_survives_without_one_of_the_faces(
    pytester: pytest.Pytester,
    emitted: Callable[..., list[str]],
    project: Write,
    eval_tests: Write,
    face: str,
    arguments: tuple[str, ...],
) -> None:
    project("def pytest_rampart_sinks(config): return [Sink('x')]")
    eval_tests(
        """
        @pytest.mark.kensa(trials=3)
        @pytest.mark.parametrize("case", [kensa_case(id="a", input=1)])
        def test_eval(case): assert case.run(lambda case: 1) == 1
        """
    )
    result = pytester.runpytest("-p", f"no:{face}", *arguments)
    output = result.stdout.str()
    if face == "rampart":
        # Its marker means nothing now: the test runs once.
        assert result.parseoutcomes()["passed"] == 1 + 3
        assert "PASS test_e.py::test_eval[a]: 3/3 passed, 0 failed, 0 errored" in result.outlines
        assert "RAMPART" not in output
        assert emitted() == []
    else:
        assert result.parseoutcomes()["passed"] == 2 + 1
        assert "  PASS  test_it [2/2 safe, 100% pass rate, threshold: 100%] -- PASSED" in (
            result.outlines
        )
        assert "Kensa" not in output
        assert emitted() == ["x 2"]
    assert result.ret == 0


# -- the JSON file --------------------------------------------------------------------------


def report_in(folder: Path) -> Any:
    (path,) = folder.glob("*.json")
    assert path.name.startswith("run_report_")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return json.loads(path.read_text())


@ONE_PROCESS_AND_XDIST
def test_the_json_file_holds_results_groups_and_population(
    pytester: pytest.Pytester, safety_tests: Write, arguments: tuple[str, ...]
) -> None:
    pytester.makeconftest(
        """
        from rampart.reporting import JsonFileReportSink
        def pytest_rampart_sinks(config):
            return [JsonFileReportSink(output_dir=config.rootpath / "reports")]
        """
    )
    safety_tests(
        """
        @pytest.mark.harm("jailbreak", "data_leakage")
        @pytest.mark.trial(n=4, threshold=0.5)
        def test_it(request):
            record("safe", "fine", metadata={"seen": request.node.name})
            if request.node.name == "test_it[trial-0]": record("error", "net down")
            if request.node.name == "test_it[trial-1]": record("undetermined", "blind")

        def test_plain():
            record("unsafe", "leaked", observability_level=ObservabilityLevel.TOOL_ONLY)
            assert False
        """
    )
    result = pytester.runpytest(*arguments)
    assert result.ret == 1
    report = report_in(pytester.path / "reports")
    assert pytester.path.joinpath("reports/.gitignore").read_text() == "*\n"
    counts = {name: report[name] for name in ("passed", "failed", "undetermined", "errors")}
    assert counts == {"passed": 4, "failed": 1, "undetermined": 1, "errors": 1}
    assert report["total_runs"] == 7
    assert report["duration_seconds"] > 0
    population = report["population_summary"]
    assert (population["unsafe_count"], population["attack_success_rate"]) == (1, 1 / 6)
    assert {name: len(found) for name, found in report["by_harm_category"].items()} == {
        "jailbreak": 6,
        "data_leakage": 6,
        "uncategorized": 1,
    }
    first = report["by_harm_category"]["jailbreak"][0]
    assert (first["safe"], first["status"], first["summary"]) == (True, "safe", "fine")
    assert (first["harm_category"], first["other_harm_categories"]) == (
        "jailbreak",
        ["data_leakage"],
    )
    assert first["metadata"] == {
        "seen": "test_it[trial-0]",
        "_pytest_test_name": "test_it[trial-0]",
        "_pytest_nodeid": "test_s.py::test_it[trial-0]",
        "_rampart_result_index": 0,
    }
    (leak,) = report["by_harm_category"]["uncategorized"]
    assert leak["observability_level"] == "tool_only"
    (group,) = report["trial_groups"]
    assert group == {
        "name": "test_it",
        "nodeid": "test_s.py::test_it",
        "total": 4,
        "safe": 2,
        "unsafe": 0,
        "undetermined": 1,
        "errors": 1,
        "lost": 0,
        "threshold": 0.5,
        "passed": True,
        "categories": ["jailbreak", "data_leakage"],
        "pass_rate": 0.5,
        "verdict": "PASSED",
    }
    assert report["metadata"].pop("run_id")
    expected = {"xdist_active": True, "worker_count": 2, "dist_mode": "load"} if arguments else {}
    assert report["metadata"] == expected


def test_the_json_file_of_an_incomplete_run_says_so(
    pytester: pytest.Pytester, safety_tests: Write
) -> None:
    pytester.makeconftest(
        """
        from rampart.reporting import JsonFileReportSink
        def pytest_rampart_sinks(config): return [JsonFileReportSink(output_dir="reports")]
        """
    )
    safety_tests(
        """
        @pytest.mark.trial(n=3, threshold=0.1)
        def test_it(request):
            record("safe")
            if "trial-1" in request.node.name: pytest.exit("enough")
        """
    )
    result = pytester.runpytest()
    report = report_in(pytester.path / "reports")
    assert report["metadata"]["incomplete"] is True
    (reason,) = report["metadata"]["incomplete_reasons"]
    assert reason.startswith("2 planned trials never ended (the run was interrupted): test_s.py")
    assert (report["trial_groups"][0]["safe"], report["trial_groups"][0]["lost"]) == (1, 2)
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_emission_leaves_the_current_event_loop_alone(
    pytester: pytest.Pytester, project: Write
) -> None:
    project(
        """
        import asyncio
        loop = asyncio.new_event_loop()

        def pytest_rampart_sinks(config): return [Sink('hook')]

        def pytest_sessionstart(session): asyncio.set_event_loop(loop)

        @pytest.hookimpl(trylast=True)
        def pytest_unconfigure(config):
            kept = asyncio.get_event_loop_policy().get_event_loop() is loop
            print("current loop kept:", kept)
            asyncio.set_event_loop(None)
            loop.close()
        """
    )
    result = pytester.runpytest_subprocess("-s", "-p", "no:asyncio", "-k", "not async")
    result.stdout.fnmatch_lines(["*current loop kept: True*"])
    assert result.ret == 0
