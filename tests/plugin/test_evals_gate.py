"""The evals gate: verdicts, exit status, printed reasons, and what the artifacts say."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from typing import Any

import pytest

Write = Callable[..., None]
Read = Callable[..., Any]

ARTIFACTS = "--kensa-write-artifacts"


@pytest.fixture
def evals(eval_tests: Write) -> Write:
    """`evals(text)` writes test_e.py, whose tests may ask for `trial`, their number from 1."""

    def write(text: str) -> None:
        fixture = """
@pytest.fixture
def trial(request): return int(request.node.name.rpartition("trial")[2].rstrip("]"))

"""
        eval_tests(fixture + re.sub(r"^ {8}", "", text, flags=re.MULTILINE))

    return write


def summary(result: pytest.RunResult) -> list[str]:
    """The lines of the evals summary, without its title."""
    start = next(i for i, line in enumerate(result.outlines) if "= Kensa summary =" in line)
    shown = result.outlines[start + 1 :]
    return [line for line in shown if re.match(r"\d+/\d+ aggregate|[A-Z ]+ test_e\.py::", line)]


# -- verdicts -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "line", "status"),
    [
        ("pass", "PASS {}: 3/3 passed, 0 failed, 0 errored", 0),
        ("assert False", "FAIL {}: 0/3 passed, 3 failed, 0 errored", 1),
        ("pytest.fail('no')", "FAIL {}: 0/3 passed, 3 failed, 0 errored", 1),
        ("assert trial == 2", "FLAKY {}: 1/3 passed, 2 failed, 0 errored", 1),
        ("if trial == 1: raise OSError", "ERROR {}: 2/3 passed, 0 failed, 1 errored", 1),
        (
            "if trial == 1: raise OSError\n            assert trial == 2",
            "ERROR {}: 1/3 passed, 1 failed, 1 errored",
            1,
        ),
        ("if trial > 1: pytest.skip('no')", "PASS {}: 1/1 passed, 0 failed, 0 errored", 0),
        ("if trial > 1: pytest.xfail('no')", "PASS {}: 1/1 passed, 0 failed, 0 errored", 0),
        (
            "if trial > 1: pytest.skip('no')\n            assert False",
            "FAIL {}: 0/1 passed, 1 failed, 0 errored",
            1,
        ),
    ],
)
def test_the_verdict_follows_from_how_the_trials_ended(
    pytester: pytest.Pytester, evals: Write, body: str, line: str, status: int
) -> None:
    evals(
        f"""
        @pytest.mark.kensa(trials=3)
        def test_it(trial):
            {body}
        """
    )
    result = pytester.runpytest()
    passed = int(line.startswith("PASS"))
    assert summary(result) == [
        f"{passed}/1 aggregate case(s) passed",
        line.format("test_e.py::test_it"),
    ]
    assert result.ret == status


def test_a_selection_of_fewer_trials_is_partial_and_fails_nothing(
    pytester: pytest.Pytester, evals: Write
) -> None:
    evals(
        """
        @pytest.mark.kensa(trials=3)
        def test_it(): pass
        """
    )
    result = pytester.runpytest("-k", "trial1 or trial2")
    assert summary(result) == [
        "0/1 aggregate case(s) passed",
        "PARTIAL test_e.py::test_it: 2/2 passed, 0 failed, 0 errored",
    ]
    assert result.ret == 0


def test_trials_lost_to_a_stop_make_the_run_incomplete(
    pytester: pytest.Pytester, evals: Write, read_results: Read
) -> None:
    evals(
        """
        @pytest.mark.kensa(trials=2)
        def test_failing(): assert False

        @pytest.mark.kensa(trials=2)
        def test_later(): pass
        """
    )
    result = pytester.runpytest("-x", ARTIFACTS)
    assert summary(result) == [
        "0/1 aggregate case(s) passed",
        "FAIL test_e.py::test_failing: 0/1 passed, 1 failed, 0 errored",
        "NOT RUN test_e.py::test_later: 2 lost",
    ]
    result.stdout.fnmatch_lines(
        [
            "INCOMPLETE RUN: *",
            "  - 3 planned trials never ended (stopping after 1 failures): *::test_failing*trial2]*",
        ]
    )
    document = read_results()
    assert document["complete"] is False
    assert document["interruption"]["message"].startswith("3 planned trials never ended")
    assert result.ret == 1


def test_a_run_that_is_stopped_without_a_failure_is_incomplete_and_fails(
    pytester: pytest.Pytester, evals: Write
) -> None:
    evals(
        """
        @pytest.mark.kensa(trials=2)
        def test_it(trial, request): request.session.shouldstop = "time is up"
        """
    )
    result = pytester.runpytest()
    assert "PARTIAL test_e.py::test_it: 1/1 passed, 0 failed, 0 errored" in summary(result)
    result.stdout.fnmatch_lines(["  - 1 planned trial never ended (time is up): *trial2]"])
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_groups_of_skipped_trials_are_listed_and_do_not_count_as_passed(
    pytester: pytest.Pytester, evals: Write, read_results: Read
) -> None:
    evals(
        """
        @pytest.mark.skip
        @pytest.mark.kensa(trials=2)
        def test_marked(): pass

        @pytest.mark.kensa(trials=2)
        def test_it(): pass

        @pytest.mark.xfail
        @pytest.mark.kensa
        def test_known(): assert False
        """
    )
    result = pytester.runpytest(ARTIFACTS)
    assert summary(result) == [
        "1/1 aggregate case(s) passed",
        "PASS test_e.py::test_it: 2/2 passed, 0 failed, 0 errored",
        "NOT RUN test_e.py::test_known: 1 skipped",
        "NOT RUN test_e.py::test_marked: 2 skipped",
    ]
    verdicts = {row["group_id"]: row["verdict"] for row in read_results()["aggregates"]}
    assert verdicts == {
        "test_e.py::test_it": "pass",
        "test_e.py::test_known": None,
        "test_e.py::test_marked": None,
    }
    assert result.ret == 0


def test_a_strict_unexpected_pass_is_a_fail(pytester: pytest.Pytester, evals: Write) -> None:
    evals(
        """
        @pytest.mark.xfail(strict=True)
        @pytest.mark.kensa
        def test_it(): pass
        """
    )
    result = pytester.runpytest()
    assert "FAIL test_e.py::test_it: 0/1 passed, 1 failed, 0 errored" in summary(result)
    assert result.ret == 1


@pytest.mark.parametrize(
    ("fixture", "kind", "message"),
    [
        ("assert False, 'no agent'", "setup", "no agent"),
        ("yield\n            raise ValueError('stuck')", "teardown", "ValueError: stuck"),
    ],
)
def test_a_failing_fixture_or_teardown_is_an_error(
    pytester: pytest.Pytester,
    evals: Write,
    read_results: Read,
    fixture: str,
    kind: str,
    message: str,
) -> None:
    evals(
        f"""
        @pytest.fixture
        def agent():
            {fixture}

        @pytest.mark.kensa
        def test_it(agent): pass
        """
    )
    result = pytester.runpytest(ARTIFACTS)
    assert "ERROR test_e.py::test_it: 0/1 passed, 0 failed, 1 errored" in summary(result)
    (trial,) = read_results()["trials"]
    assert (trial["status"], trial["error_kind"]) == ("error", kind)
    assert trial["error"].partition("\n")[0] == message
    assert trial["failure"]["category"] == "harness"
    assert result.ret == 1


def test_a_failing_teardown_does_not_turn_a_fail_into_an_error(
    pytester: pytest.Pytester, evals: Write, read_results: Read
) -> None:
    evals(
        """
        @pytest.fixture
        def agent():
            yield
            raise ValueError("stuck")

        @pytest.mark.kensa
        def test_it(agent): assert False, "wrong answer"
        """
    )
    result = pytester.runpytest(ARTIFACTS)
    assert "FAIL test_e.py::test_it: 0/1 passed, 1 failed, 0 errored" in summary(result)
    (trial,) = read_results()["trials"]
    assert trial["error"].startswith("wrong answer")
    assert trial["notes"] == ["teardown: ValueError: stuck"]


# -- exit status ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        ("raise KeyboardInterrupt", 2),
        ("pytest.exit('enough')", 2),
        ("pytest.exit('enough', returncode=7)", 7),
    ],
)
def test_the_gate_does_not_hide_why_the_session_ended(
    pytester: pytest.Pytester, evals: Write, read_results: Read, stop: str, status: int
) -> None:
    evals(
        f"""
        @pytest.mark.kensa(trials=3)
        def test_it(trial):
            assert trial != 1
            if trial == 2: {stop}
        """
    )
    result = pytester.runpytest_subprocess(ARTIFACTS)
    (aggregate,) = read_results()["aggregates"]
    assert (aggregate["verdict"], aggregate["total"], aggregate["lost"]) == ("fail", 1, 2)
    assert result.ret == status


def test_usage_errors_internal_errors_and_empty_selections_keep_their_status(
    pytester: pytest.Pytester, evals: Write
) -> None:
    evals(
        """
        @pytest.mark.kensa
        def test_it(): assert False
        """
    )
    assert pytester.runpytest("--no-such-option").ret == pytest.ExitCode.USAGE_ERROR
    assert pytester.runpytest("-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    pytester.makeconftest("def pytest_runtest_logreport(report): raise RuntimeError('broken')")
    assert pytester.runpytest_subprocess().ret == pytest.ExitCode.INTERNAL_ERROR


# -- judges ---------------------------------------------------------------------------------

JUDGED = """
        @pytest.mark.kensa(trials=2)
        def test_it():
            result = judge("answer", "The answer must be polite.")
            assert result.passed, result.reasoning
"""


def test_a_judge_that_cannot_answer_is_an_error_that_is_not_the_agents(
    pytester: pytest.Pytester,
    evals: Write,
    read_results: Read,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KENSA_JUDGE_RESULT", "error")
    evals(JUDGED)
    result = pytester.runpytest(ARTIFACTS)
    assert summary(result)[1] == "ERROR test_e.py::test_it: 0/2 passed, 0 failed, 2 errored"
    trial = read_results()["trials"][0]
    assert trial["failure"] == {
        "category": "judge",
        "kind": "judge",
        "message": "KENSA_JUDGE_RESULT is error",
    }
    assert trial["judges"][0]["error"] is True
    assert result.ret == 1


def test_a_judges_error_that_nobody_looked_at_is_still_an_error(
    pytester: pytest.Pytester, evals: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KENSA_JUDGE_RESULT", "error")
    evals(
        """
        @pytest.mark.kensa
        def test_it(): judge("answer", "polite")
        """
    )
    result = pytester.runpytest()
    assert summary(result)[1] == "ERROR test_e.py::test_it: 0/1 passed, 0 failed, 1 errored"
    result.stdout.fnmatch_lines(["error: KENSA_JUDGE_RESULT is error (the test itself did not *"])
    assert result.ret == 1


def test_an_assertion_about_the_agent_after_a_judges_error_is_a_fail_with_the_error_noted(
    pytester: pytest.Pytester,
    evals: Write,
    read_results: Read,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KENSA_JUDGE_RESULT", "error")
    evals(
        """
        @pytest.mark.kensa
        def test_it():
            result = judge("answer", "polite")
            answer = "no"
            assert answer == "yes"
        """
    )
    result = pytester.runpytest(ARTIFACTS)
    assert summary(result)[1] == "FAIL test_e.py::test_it: 0/1 passed, 1 failed, 0 errored"
    (trial,) = read_results()["trials"]
    assert trial["failure"]["category"] == "agent"
    assert trial["notes"] == ["judge error: KENSA_JUDGE_RESULT is error"]


def test_a_custom_judge_that_breaks_is_the_judges_error(
    pytester: pytest.Pytester, evals: Write, read_results: Read
) -> None:
    pytester.makeconftest(
        """
        from kensa.judge import set_judge_provider

        class Broken:
            def judge(self, **question): raise OSError("no line to the model")

        set_judge_provider(Broken())
        """
    )
    evals(JUDGED)
    result = pytester.runpytest_subprocess(ARTIFACTS)
    assert summary(result)[1] == "ERROR test_e.py::test_it: 0/2 passed, 0 failed, 2 errored"
    trial = read_results()["trials"][0]
    assert trial["failure"]["category"] == "judge"
    assert "OSError: no line to the model" in trial["error"]
    assert result.ret == 1


def test_without_judges_a_judged_trial_is_unjudged_and_proves_nothing(
    pytester: pytest.Pytester,
    evals: Write,
    read_results: Read,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KENSA_JUDGE_RESULT", "fail")
    evals(
        JUDGED
        + """
        @pytest.mark.kensa
        def test_plain(): pass

        @pytest.mark.kensa
        def test_wrong():
            assert judge("answer", "polite").passed
            assert False, "a deterministic assertion"

        @pytest.mark.kensa(trials=2)
        def test_sometimes_judged(trial):
            if trial == 1: judge("answer", "polite")
        """
    )
    result = pytester.runpytest("--kensa-no-judge", "-v", ARTIFACTS)
    assert summary(result) == [
        "1/4 aggregate case(s) passed",
        "INCONCLUSIVE test_e.py::test_it: 0/2 passed, 0 failed, 0 errored, 2 unjudged",
        "PASS test_e.py::test_plain: 1/1 passed, 0 failed, 0 errored",
        "INCONCLUSIVE test_e.py::test_sometimes_judged: 1/2 passed, 0 failed, 0 errored, 1 unjudged",
        "FAIL test_e.py::test_wrong: 0/1 passed, 1 failed, 0 errored",
    ]
    result.stdout.fnmatch_lines(["test_e.py::test_it[[]trial1] UNJUDGED*"])
    assert result.parseoutcomes() == {"unjudged": 3, "passed": 2, "failed": 1}
    judgement = read_results()["trials"][0]["judges"][0]
    assert judgement["provider"] == "disabled"
    assert judgement["metadata"] == {"disabled": True}
    assert (judgement["passed"], judgement["error"]) == (True, False)
    assert result.ret == 1


def test_an_unjudged_session_in_which_nothing_failed_exits_with_0(
    pytester: pytest.Pytester, evals: Write
) -> None:
    evals(JUDGED)
    result = pytester.runpytest("--kensa-no-judge", "-x")
    assert summary(result)[0] == "0/1 aggregate case(s) passed"
    assert result.parseoutcomes() == {"unjudged": 2}
    assert result.ret == 0


# -- cases ----------------------------------------------------------------------------------


def test_a_trial_that_changes_its_case_or_output_changes_no_other_trial_and_no_record(
    pytester: pytest.Pytester, evals: Write, read_results: Read
) -> None:
    evals(
        """
        @pytest.mark.kensa(trials=2)
        @pytest.mark.parametrize("case", [kensa_case(id="a", input={"items": [1]})])
        def test_it(case):
            given = case.input
            output = case.run(lambda case: {"seen": case.input["items"]})
            given["items"].append(2)
            output["seen"].append(3)
            assert case.input == {"items": [1]}
        """
    )
    result = pytester.runpytest(ARTIFACTS)
    assert summary(result)[0] == "1/1 aggregate case(s) passed"
    for trial in read_results()["trials"]:
        assert trial["case"] == {"id": "a", "input": {"items": [1]}}
        assert trial["output"] == {"seen": [1]}


@pytest.mark.parametrize("output", ["float('nan')", "{'x': float('inf')}", "{1, 2}", "object()"])
def test_an_output_that_is_not_json_is_an_error_of_that_trial(
    pytester: pytest.Pytester, evals: Write, read_results: Read, output: str
) -> None:
    evals(
        f"""
        @pytest.mark.kensa(trials=2)
        @pytest.mark.parametrize("case", [kensa_case(id="a", input=float("nan"))])
        def test_it(case, trial):
            case.run(lambda case: {output} if trial == 1 else 1)
        """
    )
    result = pytester.runpytest(ARTIFACTS)
    assert summary(result)[1] == "ERROR test_e.py::test_it[a]: 1/2 passed, 0 failed, 1 errored"
    broken, good = read_results()["trials"]
    assert broken["error"].startswith("KensaCaseError: case 'a': the harness's output")
    assert (broken["output"], good["output"]) == (None, 1)
    (path,) = pytester.path.glob(".kensa/results/*.json")
    assert not re.search(r"\b(NaN|Infinity)\b", path.read_text())
    assert result.ret == 1


def test_a_trial_runs_its_case_once(pytester: pytest.Pytester, evals: Write) -> None:
    evals(
        """
        @pytest.mark.kensa
        @pytest.mark.parametrize("case", [kensa_case(id="a", input=1)])
        def test_it(case):
            case.run(lambda case: 1)
            case.run(lambda case: 1)
        """
    )
    result = pytester.runpytest()
    assert summary(result)[1] == "ERROR test_e.py::test_it[a]: 0/1 passed, 0 failed, 1 errored"
    result.stdout.fnmatch_lines(["*KensaCaseError: case 'a': a trial runs its case once*"])


def test_a_case_whose_trace_cannot_be_collected_is_an_error_not_a_pass(
    pytester: pytest.Pytester,
    evals: Write,
    read_results: Read,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    evals(
        """
        @pytest.mark.kensa
        @pytest.mark.parametrize("case", [kensa_case(id="a", input=1)])
        def test_it(case, kensa_trace):
            case.run(lambda case: 1)
            assert kensa_trace.tools.exclude(["issue_refund"])
        """
    )
    result = pytester.runpytest_subprocess(ARTIFACTS)
    assert summary(result)[1] == "ERROR test_e.py::test_it[a]: 0/1 passed, 0 failed, 1 errored"
    (trial,) = read_results()["trials"]
    assert trial["error_kind"] == "trace"
    assert trial["error"].startswith("OTEL_SDK_DISABLED is true")
    assert trial["trace"]["incomplete"] is True
    assert result.ret == 1


def test_a_model_turn_without_a_price_is_counted_as_unpriced(
    pytester: pytest.Pytester, evals: Write, read_results: Read
) -> None:
    evals(
        """
        from kensa.tracing import record_llm_call

        @pytest.mark.kensa
        @pytest.mark.parametrize("case", [kensa_case(id="a", input=1)])
        def test_it(case, kensa_trace):
            def run(case):
                with record_llm_call(**{"kensa.cost_usd": 0.5}): pass
                with record_llm_call(): pass
            case.run(run)
            assert kensa_trace.cost_usd == 0.5
        """
    )
    result = pytester.runpytest(ARTIFACTS)
    trace = read_results()["trials"][0]["trace"]
    assert (trace["cost_usd"], trace["llm_turns"], trace["unpriced_turns"]) == (0.5, 2, 1)
    assert result.ret == 0


# -- reports --------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_the_json_report_can_be_parsed_out_of_the_output(
    pytester: pytest.Pytester, evals: Write, arguments: tuple[str, ...]
) -> None:
    evals(
        """
        @pytest.mark.kensa(trials=2)
        @pytest.mark.parametrize("case", [kensa_case(id=name, input=1) for name in ("b", "a")])
        def test_it(case, trial): assert case.id == "a" or trial == 1
        """
    )
    result = pytester.runpytest("--kensa-report=json", *arguments)
    output = result.stdout.str()
    after = output[output.index("= Kensa summary =") :]
    document, _ = json.JSONDecoder().raw_decode(after, after.index("\n{") + 1)
    assert document.keys() == {"run_id", "aggregates"}
    first, second = document["aggregates"]
    assert (first["group_id"], first["verdict"]) == ("test_e.py::test_it[a]", "pass")
    assert (second["group_id"], second["verdict"]) == ("test_e.py::test_it[b]", "flaky")
    assert {"configured_trials": 2, "total": 2, "passed": 1, "failed": 1, "errored": 0}.items() <= (
        second.items()
    )
    assert [trial["status"] for trial in second["trials"]] == ["pass", "fail"]
    assert "aggregate case(s) passed" not in output
    assert result.ret == 1


def test_the_artifacts_hold_every_trial_with_its_trace(
    pytester: pytest.Pytester, evals: Write, read_results: Read
) -> None:
    evals(
        """
        from kensa.tracing import record_llm_call, record_tool_call

        @pytest.mark.kensa(trials=2)
        @pytest.mark.parametrize("case", [kensa_case(id="a", input="hello", tier="gold")])
        def test_it(case, trial):
            def run(case):
                with record_llm_call(provider="p", model="m", **{"kensa.cost_usd": 0.25}): pass
                with record_tool_call("search"): pass
                with record_tool_call("search"): pass
                return {"answer": case.input}
            case.run(run)
            assert trial == 1, "second thoughts"
        """
    )
    pytester.runpytest(ARTIFACTS)
    document = read_results()
    assert document["schema_version"] == "kensa.results.v1"
    assert (document["complete"], document["interruption"]) == (True, None)
    first, second = document["trials"]
    assert first["nodeid"] == "test_e.py::test_it[a-trial1]"
    assert first["group_id"] == "test_e.py::test_it[a]"
    assert (first["case_id"], first["trial_index"], first["configured_trials"]) == ("a", 1, 2)
    assert first["case"] == {"id": "a", "tier": "gold", "input": "hello"}
    assert first["output"] == {"answer": "hello"}
    assert (first["status"], first["error"], first["error_kind"]) == ("pass", None, None)
    assert first["trace"]["tools"] == ["search", "search"]
    assert (first["trace"]["llm_turns"], first["trace"]["cost_usd"]) == (1, 0.25)
    assert second["error"].startswith("second thoughts")
    assert (second["status"], second["error_kind"]) == ("fail", "assertion")
    assert second["failure"]["category"] == "agent"

    run_id = document["run_id"]
    path = pytester.path / ".kensa/traces/runs" / run_id / "trials.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["id"] for row in rows] == [f"{run_id}_a_trial1", f"{run_id}_a_trial2"]
    assert [row["status"] for row in rows] == ["pass", "fail"]
    assert rows[0]["spans"] == first["trace"]["spans"]
    assert list(rows[0]) == sorted(rows[0])


@pytest.mark.parametrize("folder", [".kensa", "existing"])
def test_the_artifacts_are_private_and_ignored_by_git(
    pytester: pytest.Pytester, evals: Write, folder: str
) -> None:
    pytester.mkdir("existing")
    evals(
        """
        @pytest.mark.kensa
        @pytest.mark.parametrize("case", [kensa_case(id="a", input=1)])
        def test_it(case): case.run(lambda case: 1)
        """
    )
    pytester.runpytest(ARTIFACTS, f"--kensa-artifact-dir={folder}")
    made = [pytester.path / folder / name for name in ("results", "traces")]
    made += [pytester.path / folder] * (folder == ".kensa")
    for path in made:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
        assert path.joinpath(".gitignore").read_text() == "*\n"
    for name in ("results/*.json", "traces/runs/*/trials.jsonl"):
        (path,) = pytester.path.joinpath(folder).glob(name)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not pytester.path.joinpath("existing/.gitignore").exists()


def test_artifacts_that_cannot_be_written_fail_the_session_and_say_why(
    pytester: pytest.Pytester, evals: Write
) -> None:
    pytester.path.joinpath(".kensa").write_text("a file where the folder should be")
    evals(
        """
        @pytest.mark.kensa
        def test_it(): pass
        """
    )
    result = pytester.runpytest(ARTIFACTS)
    assert summary(result)[0] == "1/1 aggregate case(s) passed"
    result.stdout.fnmatch_lines(["PROBLEM: the results of the evals could not be written to *"])
    assert result.ret == 1


def test_a_session_without_evals_prints_and_writes_nothing_of_them(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest(ARTIFACTS)
    assert "Kensa" not in result.stdout.str()
    assert not pytester.path.joinpath(".kensa").exists()
    assert result.ret == 0
