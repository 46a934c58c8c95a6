"""The seed document about evals, block by block and table by table, in sessions of its own."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from .seed_document import kensa_seed, markdown_blocks, markdown_table

SEED = kensa_seed()
INSTALL, REFUND, HARNESS, ASYNC, IDS, PYTEST_COMMANDS, EVAL_COMMANDS = (
    block.text for block in markdown_blocks(SEED)
)
GROUP = "tests/evals/test_refund.py::test_refund_policy[refund_without_order_history]"
SCRIPTS = Path(sys.executable).parent


def commands(block: str) -> list[list[str]]:
    """A shell block's commands as words, without their comments."""
    return [shlex.split(line, comments=True) for line in block.splitlines()]


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """The document's eval and harness, where the document says that they go."""
    evals = pytester.mkdir("tests") / "evals"
    evals.mkdir()
    (evals / "conftest.py").write_text(HARNESS)
    (evals / "test_refund.py").write_text(REFUND)
    return pytester


def run_command(pytester: pytest.Pytester, words: list[str]) -> pytest.RunResult:
    return pytester.run(SCRIPTS / words[0], *words[1:])


def printed_json(result: pytest.RunResult) -> Any:
    """The JSON object that `--kensa-report=json` put into pytest's output."""
    output = result.stdout.str()
    document, _ = json.JSONDecoder().raw_decode(output, output.index("\n{\n") + 1)
    return document


def test_only_the_install_line_is_not_run_here() -> None:
    assert INSTALL.startswith("uv add --dev kensa")
    assert [block.language for block in markdown_blocks(SEED)] == [
        *("bash", "python", "python", "python", "text", "bash", "bash")
    ]


@pytest.mark.parametrize(
    ("answer", "verdict", "outcomes", "status"),
    [
        ("pass", "PASS {}: 3/3 passed, 0 failed, 0 errored", {"passed": 3}, 0),
        ("fail", "FAIL {}: 0/3 passed, 3 failed, 0 errored", {"failed": 3}, 1),
        ("error", "ERROR {}: 0/3 passed, 0 failed, 3 errored", {"failed": 3}, 1),
    ],
)
def test_the_eval_runs_with_the_harness_and_the_judges_answer_decides(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    verdict: str,
    outcomes: dict[str, int],
    status: int,
) -> None:
    monkeypatch.setenv("KENSA_JUDGE_RESULT", answer)
    result = project.runpytest_subprocess("-v")
    result.assert_outcomes(**outcomes)
    for name in IDS.splitlines():
        assert f"tests/evals/test_refund.py::{name} " in result.stdout.str()
    assert "= Kensa summary =" in result.stdout.str()
    assert result.outlines.count(f"{int(answer == 'pass')}/1 aggregate case(s) passed") == 1
    assert result.outlines.count(verdict.format(GROUP)) == 1
    assert result.ret == status


@pytest.mark.parametrize(
    ("old", "new", "assertion"),
    [
        ("Refund my last charge.", "Order #7, refund it.", 'tools.exclude(["issue_refund"])'),
        ('include(["lookup_customer"])', 'include(["search"])', 'tools.include(["search"])'),
    ],
)
def test_the_trace_holds_the_tool_calls_of_the_harness(
    project: pytest.Pytester, old: str, new: str, assertion: str
) -> None:
    assert old in REFUND
    (project.path / "tests/evals/test_refund.py").write_text(REFUND.replace(old, new))
    result = project.runpytest_subprocess("--kensa-no-judge")
    result.assert_outcomes(failed=3)
    assert f">       assert kensa_trace.{assertion}" in result.stdout.str()
    assert f"FAIL {GROUP}: 0/3 passed, 3 failed, 0 errored" in result.outlines
    assert result.ret == 1


def test_each_trial_is_listed_as_an_item_under_the_documented_id(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("--collect-only", "-q")
    names = [line.rpartition("::")[2] for line in result.outlines if "::" in line]
    assert names == IDS.splitlines()


def test_async_evals_run_through_the_plain_async_plugin(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import asyncio, pytest
        from kensa.tracing import record_tool_call

        @pytest.fixture
        def async_client():
            return "client"

        @pytest.fixture
        def kensa_run():
            async def run(case):
                await asyncio.sleep(0)
                with record_tool_call("draft"):
                    return {"draft": case.input}
            return run
        """
    )
    used_elsewhere = "from kensa.pytest import kensa_case\n"
    pytester.path.joinpath("test_sdr.py").write_text(used_elsewhere + ASYNC)
    result = pytester.runpytest_subprocess("-q", "--kensa-write-artifacts")
    result.assert_outcomes(passed=3)
    assert "PASS test_sdr.py::test_sdr_draft[draft_no_send]: 3/3 passed, 0 failed, 0 errored" in (
        result.outlines
    )
    assert result.ret == 0
    (path,) = pytester.path.glob(".kensa/results/*.json")
    trials = json.loads(path.read_text())["trials"]
    assert [trial["output"] for trial in trials] == [{"draft": "..."}] * 3
    assert [trial["trace"]["tools"] for trial in trials] == [["draft"]] * 3


# -- the tables -----------------------------------------------------------------------------

HEADER = """
import pytest
from kensa.pytest import kensa_case
cases = pytest.mark.parametrize("case", [kensa_case(id="a", input=1)])
"""
VERDICTS = {
    "pass": ("", "2/2 passed, 0 failed, 0 errored"),
    "fail": ("assert False", "0/2 passed, 2 failed, 0 errored"),
    "flaky": ("assert 'trial1' in request.node.name", "1/2 passed, 1 failed, 0 errored"),
    "error": ("raise RuntimeError('broke')", "0/2 passed, 0 failed, 2 errored"),
    "partial": ("", "1/1 passed, 0 failed, 0 errored"),
}


@pytest.mark.parametrize("row", markdown_table(SEED, "Verdict"), ids=lambda row: row["Verdict"])
def test_each_verdict_is_printed_and_those_that_are_named_fail_the_session(
    pytester: pytest.Pytester, row: dict[str, str]
) -> None:
    verdict = row["Verdict"]
    body, counts = VERDICTS[verdict]
    pytester.path.joinpath("test_v.py").write_text(
        f"{HEADER}@pytest.mark.kensa(trials=2)\n@cases\n"
        f"def test_it(case, request):\n    case.run(lambda case: 1)\n    {body}\n"
    )
    one_trial = ["test_v.py::test_it[a-trial1]"] if verdict == "partial" else []
    result = pytester.runpytest_subprocess("-q", *one_trial)
    assert f"{verdict.upper()} test_v.py::test_it[a]: {counts}" in result.outlines
    assert "`fail`, `flaky`, and `error` fail the pytest session." in SEED
    assert result.ret == (1 if verdict in ("fail", "flaky", "error") else 0)


def test_the_summary_is_the_documented_one_to_the_byte(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    tests = [
        f"@pytest.mark.kensa(trials=2)\n@cases\n"
        f"def test_{verdict}(case, request):\n    case.run(lambda case: 1)\n    {body}\n"
        for verdict, (body, _) in VERDICTS.items()
    ]
    pytester.path.joinpath("test_v.py").write_text(HEADER + "\n".join(tests))
    result = pytester.runpytest_subprocess("-q", "--deselect", "test_v.py::test_partial[a-trial1]")
    start = result.outlines.index(f"{' Kensa summary ':=^80}")
    assert result.outlines[start:-1] == [
        "================================ Kensa summary =================================",
        "1/5 aggregate case(s) passed",
        "ERROR test_v.py::test_error[a]: 0/2 passed, 0 failed, 2 errored",
        "FAIL test_v.py::test_fail[a]: 0/2 passed, 2 failed, 0 errored",
        "FLAKY test_v.py::test_flaky[a]: 1/2 passed, 1 failed, 0 errored",
        "PARTIAL test_v.py::test_partial[a]: 1/1 passed, 0 failed, 0 errored",
        "PASS test_v.py::test_pass[a]: 2/2 passed, 0 failed, 0 errored",
    ]
    assert result.outlines[-1].startswith("5 failed, 4 passed, 1 deselected")
    assert result.ret == 1


def test_the_options_have_the_documented_defaults(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfig()
    for row in markdown_table(SEED, "Option"):
        default = {"off": False}.get(row["Default"], row["Default"])
        assert config.getoption(row["Option"]) == default, row
    helped = " ".join(pytester.runpytest_subprocess("--help").stdout.str().split())
    for row in markdown_table(SEED, "Option"):
        assert row["Option"] in helped
    assert "Summary format: term or json" in helped
    assert "Disable judge calls; deterministic assertions still run." in helped


def test_artifacts_are_written_where_the_options_say(project: pytest.Pytester) -> None:
    project.runpytest_subprocess("--kensa-no-judge")
    assert not project.path.joinpath(".kensa").exists()
    project.runpytest_subprocess("--kensa-no-judge", "--kensa-write-artifacts")
    (results,) = project.path.glob(".kensa/results/*.json")
    run_id = json.loads(results.read_text())["run_id"]
    assert results.stem == run_id
    traces = project.path / ".kensa/traces/runs" / run_id / "trials.jsonl"
    assert len(traces.read_text().splitlines()) == 3
    elsewhere = "--kensa-artifact-dir=elsewhere/results"
    project.runpytest_subprocess("--kensa-no-judge", "--kensa-write-artifacts", elsewhere)
    assert len(list(project.path.glob("elsewhere/results/results/*.json"))) == 1
    assert len(list(project.path.glob(".kensa/results/*.json"))) == 1


def test_the_plugin_brings_the_fixture_and_the_marker_but_not_the_harness(
    project: pytest.Pytester,
) -> None:
    provided = {row["Name"]: row["Provided by"] for row in markdown_table(SEED, "Name")}
    assert provided == {
        "case": "your @pytest.mark.parametrize",
        "kensa_run": "you (conftest.py)",
        "kensa_trace": "Kensa",
        "@pytest.mark.kensa(trials=N)": "Kensa",
    }
    project.path.joinpath("tests/evals/conftest.py").unlink()
    markers = project.runpytest_subprocess("--markers").stdout
    markers.fnmatch_lines(["@pytest.mark.kensa(trials=N): *(default 1)*"])
    fixtures = project.runpytest_subprocess("--fixtures").stdout.str()
    assert "kensa_trace -- " in fixtures
    result = project.runpytest_subprocess("-q")
    result.assert_outcomes(errors=3)
    assert "E       fixture 'kensa_run' not found" in result.outlines
    assert f"ERROR {GROUP}: 0/3 passed, 0 failed, 3 errored" in result.outlines
    assert result.ret == 1


# -- the commands ---------------------------------------------------------------------------


def test_plain_pytest_is_a_gate(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, no_judge, as_json = commands(PYTEST_COMMANDS)

    monkeypatch.setenv("KENSA_JUDGE_RESULT", "pass")
    result = run_command(project, plain)
    assert f"PASS {GROUP}: 3/3 passed, 0 failed, 0 errored" in result.outlines
    assert result.ret == 0

    monkeypatch.setenv("KENSA_JUDGE_RESULT", "fail")
    result = run_command(project, no_judge)
    assert "0/1 aggregate case(s) passed" in result.outlines
    assert f"INCONCLUSIVE {GROUP}: 0/3 passed, 0 failed, 0 errored, 3 unjudged" in result.outlines
    assert result.ret == 0

    result = run_command(project, as_json)
    (aggregate,) = printed_json(result)["aggregates"]
    assert aggregate["group_id"] == GROUP
    assert (aggregate["verdict"], aggregate["failed"], aggregate["total"]) == ("fail", 3, 3)
    assert result.ret == 1


def test_kensa_eval_writes_artifacts_and_reports_in_all_of_its_forms(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, markdown, as_json, passed_on = commands(EVAL_COMMANDS)
    monkeypatch.setenv("KENSA_JUDGE_RESULT", "pass")
    passing = f"PASS {GROUP}: 3/3 passed, 0 failed, 0 errored"

    result = run_command(project, plain)
    assert passing in result.outlines
    assert result.ret == 0
    (results,) = project.path.glob(".kensa/results/*.json")

    result = run_command(project, markdown)
    assert result.ret == 0
    report = project.path.joinpath("eval.md").read_text()
    assert "pass" in report
    assert "test_refund_policy" in report
    assert "3/3" in report

    result = run_command(project, as_json)
    assert result.ret == 0
    document = json.loads(project.path.joinpath("eval.json").read_text())
    assert document["aggregates"][0]["verdict"] == "pass"
    assert document.keys() == json.loads(results.read_text()).keys()

    result = run_command(project, passed_on)
    assert passing in result.outlines
    assert "test session starts" not in result.stdout.str()  # -q
    assert result.ret == 0
    assert len(list(project.path.glob(".kensa/results/*.json"))) == 4


def test_kensa_eval_fails_when_an_eval_does(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KENSA_JUDGE_RESULT", "fail")
    result = run_command(project, ["kensa", "eval"])
    assert f"FAIL {GROUP}: 0/3 passed, 3 failed, 0 errored" in result.outlines
    assert "tests failed (pytest exit 1)" in result.stderr.str() + result.stdout.str()
    assert result.ret == 1


def test_kensa_eval_expects_a_passing_eval_that_is_no_smoke_test(
    project: pytest.Pytester,
) -> None:
    (project.path / "tests/evals/test_refund.py").write_text(
        HEADER.replace('"a"', '"kensa_smoke"')
        + "@pytest.mark.kensa\n@cases\ndef test_smoke(case): case.run(lambda case: 1)\n"
    )
    result = run_command(project, ["kensa", "eval"])
    assert "1/1 aggregate case(s) passed" in result.outlines
    assert "only the smoke test passed" in result.stderr.str() + result.stdout.str()
    assert result.ret == 1


@pytest.mark.parametrize(
    ("harness", "warning"),
    [("Mock()", "kensa_run returns a mock, not an agent"), ("answer", None)],
    ids=["a mock", "an agent's own function"],
)
def test_kensa_doctor_warns_of_a_harness_that_looks_like_a_mock_and_exits_with_0(
    project: pytest.Pytester, harness: str, warning: str | None
) -> None:
    assert "warns if the harness looks like a stub or mock" in SEED
    (project.path / "tests/evals/conftest.py").write_text(
        "import pytest\nfrom unittest.mock import Mock\nfrom agent import answer\n"
        f"@pytest.fixture\ndef kensa_run(): return {harness}\n"
    )
    result = run_command(project, ["kensa", "doctor"])
    warned = [line for line in result.errlines if line.startswith("warning: ")]
    assert len(warned) == (warning is not None)
    assert all(f"{warning} [mock]" in line for line in warned)
    assert result.ret == 0
