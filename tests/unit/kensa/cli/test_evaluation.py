"""`kensa eval`: its arguments, and what pytest's end and the results mean together."""

from __future__ import annotations

from pathlib import Path

import pytest

from kensa.cli.evaluation import EvalRequest, artifact_folder, conclude, new_run_id
from kensa.cli.pytest_process import PytestEnd
from kensa.cli.run_results import no_results
from seatrial.cli.command_result import CommandResult
from seatrial.snapshot import JsonObject


def request(*pytest_args: str, **changes: object) -> EvalRequest:
    asked = {
        "root": Path("/project"),
        "paths": (),
        "pytest_args": pytest_args,
        "no_judge": False,
        "as_json": False,
        "json_report": None,
        "markdown_report": None,
    }
    return EvalRequest(**(asked | changes))  # type: ignore[arg-type]


def results(*verdicts: str | None, smoke: bool = False) -> JsonObject:
    return no_results("r1", "") | {
        "complete": True,
        "interruption": None,
        "aggregates": [
            {"group_id": f"test_x[{i}]", "verdict": verdict, "smoke": smoke}
            for i, verdict in enumerate(verdicts)
        ],
    }


def ended(returncode: int, document: JsonObject, *, interrupted: bool = False) -> CommandResult:
    return conclude(request(), PytestEnd(returncode, interrupted), document, None)


def test_the_users_words_come_last_and_untouched() -> None:
    asked = request("-k", "refund", paths=("tests/a",), no_judge=True)
    assert asked.arguments == [
        "tests/a",
        "--kensa-write-artifacts",
        "--kensa-report=term",
        "--kensa-no-judge",
        "-k",
        "refund",
    ]
    assert request(as_json=True).arguments == [
        "tests/evals",
        "--kensa-write-artifacts",
        "--kensa-report=json",
    ]


def test_paths_follow_the_users_own_dashes_because_pytest_takes_none_after_a_path() -> None:
    assert request("-q", "--", "tests/b", paths=("tests/a",)).arguments[2:] == [
        "-q",
        "--",
        "tests/b",
        "tests/a",
    ]


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [
        ([], None),
        (["-q", "--kensa-artifact-dir", "a"], "a"),
        (["--kensa-artifact-dir=a"], "a"),
        (["--kensa-artifact-dir=a", "--kensa-artifact-dir", "b"], "b"),
        (["--kensa-artifact-dir"], None),
        (["--", "--kensa-artifact-dir=a"], None),
        (["--kensa-artifact-directory=a"], None),
    ],
)
def test_the_artifact_folder_is_the_one_that_pytest_is_told(
    arguments: list[str], folder: str | None
) -> None:
    assert artifact_folder(arguments) == folder


def test_the_artifact_folder_is_looked_for_in_the_environment_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert request().artifacts == Path("/project/.kensa")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--kensa-artifact-dir=outer")
    assert request().artifacts == Path("/project/outer")
    assert request("--kensa-artifact-dir=/x").artifacts == Path("/x")
    monkeypatch.setenv("PYTEST_ADDOPTS", "'unclosed")
    assert request().artifacts == Path("/project/.kensa")


def test_runs_have_names_of_their_own() -> None:
    assert len({new_run_id() for _ in range(100)}) == 100


@pytest.mark.parametrize(
    ("returncode", "document", "exit_code", "error"),
    [
        (0, results("pass"), 0, None),
        (0, results("inconclusive"), 0, None),
        (0, results("pass", "partial"), 0, None),
        (0, results("pass", smoke=True), 1, "only the smoke test passed"),
        (0, results(None), 1, "no eval passed"),
        (1, results("pass", "flaky"), 1, "FLAKY test_x[1]"),
        (1, results("pass"), 1, "tests failed (pytest exit 1)"),
        (2, results("pass"), 2, "(pytest exit 2)"),
        (4, no_results("r1", ""), 4, "pytest was called wrongly (pytest exit 4)"),
        (5, no_results("r1", ""), 5, "no tests were collected (pytest exit 5)"),
        (7, results("pass"), 7, "pytest ended early (pytest exit 7)"),
        (137, results("pass"), 137, "pytest was ended by signal 9"),
    ],
)
def test_pytests_status_wins_and_else_readiness_decides(
    returncode: int, document: JsonObject, exit_code: int, error: str | None
) -> None:
    result = ended(returncode, document)
    assert result.exit_code == exit_code
    assert (result.errors == ()) if error is None else any(error in e for e in result.errors)


def test_after_ctrl_c_the_status_is_130_whatever_pytest_said() -> None:
    for returncode in (0, 1, 2):
        result = ended(returncode, results("pass"), interrupted=True)
        assert result.exit_code == 130
        assert result.errors[0] == "interrupted"


def test_many_failures_are_named_up_to_twenty_and_counted() -> None:
    errors = ended(1, results(*["fail"] * 50)).errors
    assert errors[1] == "FAIL test_x[0]"
    assert errors[-1] == "and 30 more"
    assert len(errors) == 22


def test_a_run_without_results_fails_even_when_pytest_is_content() -> None:
    result = conclude(
        request(), PytestEnd(0, interrupted=False), no_results("r1", "gone"), "no results: gone"
    )
    assert result.exit_code == 1
    assert result.errors == ("no results: gone",)
    assert "-p no:kensa" in result.next_steps[0]


def test_a_missing_folder_of_evals_leads_to_a_hint(tmp_path: Path) -> None:
    end = PytestEnd(4, interrupted=False)
    empty = no_results("r1", "")
    assert "--project-root" in conclude(request(root=tmp_path), end, empty, None).next_steps[0]
    assert conclude(request(root=tmp_path, paths=("x",)), end, empty, None).next_steps == ()
