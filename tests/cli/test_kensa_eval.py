"""`kensa eval` from end to end: real pytest, real files, real exit statuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Project: TypeAlias = "Callable[[dict[str, str]], Path]"
Kensa: TypeAlias = "Callable[..., subprocess.CompletedProcess[str]]"

FAILING = """
import pytest
from kensa.pytest import kensa_case

@pytest.mark.kensa(trials=2)
@pytest.mark.parametrize("case", [kensa_case(id="bad", input="x")])
def test_fails(case, kensa_run):
    assert case.run(kensa_run) == "x", "a | b <img>"
"""
SMOKE = """
import pytest
from kensa.pytest import kensa_case

@pytest.mark.kensa
@pytest.mark.parametrize("case", [kensa_case(id="kensa_smoke", input="hello")])
def test_kensa_smoke(case, kensa_run):
    assert case.run(kensa_run) is not None
"""
ANY_PYTEST = 'import sys\ndef test_a(): assert "kensa" not in sys.argv[0]\n'


def test_the_default_runs_tests_evals_and_exits_0(project: Project, kensa: Kensa) -> None:
    root = project({"tests/test_other.py": "def test_never(): assert False"})
    ended = kensa(root, "eval")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "PASS tests/evals/test_shouts.py::test_shouts[refund]: 2/2 passed" in ended.stdout
    (results,) = (root / ".kensa" / "results").glob("*.json")
    assert f"written: {results}" in ended.stdout
    assert "test_never" not in ended.stdout


def test_both_reports_are_written_into_folders_that_did_not_exist(
    project: Project, kensa: Kensa
) -> None:
    root = project({"tests/evals/test_bad.py": FAILING})
    ended = kensa(
        root, "eval", "--markdown-report", "out/eval.md", "--json-report", "out/deep/eval.json"
    )
    assert ended.returncode == 1
    assert "error: FAIL tests/evals/test_bad.py::test_fails[bad]" in ended.stderr
    report = (root / "out" / "eval.md").read_text(encoding="utf-8")
    assert "| FAIL | `tests/evals/test_bad.py::test_fails[bad]` | 0/2 | 2 | 0 |" in report
    assert "a | b <img>" in report
    document = json.loads((root / "out" / "deep" / "eval.json").read_text(encoding="utf-8"))
    (results,) = (root / ".kensa" / "results").glob("*.json")
    assert document == json.loads(results.read_text(encoding="utf-8"))
    assert document["run_id"] == results.stem


def test_json_is_one_document_on_stdout(project: Project, kensa: Kensa) -> None:
    root = project({})
    ended = kensa(root, "eval", "--json", "--", "-k", "refund", "-q")
    assert ended.returncode == 0
    assert ended.stderr == ""
    document = json.loads(ended.stdout)
    assert document["schema_version"] == "kensa.cli.v1"
    data = document["data"]
    assert [row["case_id"] for row in data["aggregates"]] == ["refund"]
    assert data["evals_readiness"] == {"ready": True, "passing_eval_count": 1}
    assert data["pytest"]["returncode"] == 0
    assert "2 passed" in data["pytest"]["stdout"]
    assert Path(data["artifact"]).stem == data["run_id"]
    assert Path(data["trace_artifact"]).is_file()


def test_what_follows_the_dashes_reaches_pytest_untouched(project: Project, kensa: Kensa) -> None:
    root = project({"tests/extra/test_more.py": ANY_PYTEST})
    ended = kensa(root, "eval", "--json", "--", "-q", "--", "tests/extra/test_more.py")
    data = json.loads(ended.stdout)["data"]
    assert data["pytest_args"] == ["-q", "--", "tests/extra/test_more.py"]
    assert "5 passed" in data["pytest"]["stdout"]


def test_options_of_pytest_before_the_dashes_are_refused_with_a_hint(
    project: Project, kensa: Kensa
) -> None:
    ended = kensa(project({}), "eval", "-k", "refund")
    assert ended.returncode == 2
    assert "Options for pytest go after `--`." in ended.stderr


def test_the_artifact_folder_that_pytest_is_given_is_the_one_that_is_read(
    project: Project, kensa: Kensa
) -> None:
    root = project({})
    ended = kensa(root, "eval", "--", "--kensa-artifact-dir=elsewhere", "-k", "refund")
    assert ended.returncode == 0
    (results,) = (root / "elsewhere" / "results").glob("*.json")
    assert f"written: {results}" in ended.stdout
    assert not (root / ".kensa").exists()


def test_an_earlier_runs_results_are_never_taken_for_this_ones(
    project: Project, kensa: Kensa
) -> None:
    root = project({})
    assert kensa(root, "eval", "--json-report", "eval.json").returncode == 0
    (root / "tests" / "evals" / "test_shouts.py").write_text("import nothing_of_that_name\n")
    ended = kensa(root, "eval", "--json-report", "eval.json", "--markdown-report", "eval.md")
    assert ended.returncode == 2
    document = json.loads((root / "eval.json").read_text(encoding="utf-8"))
    assert document["complete"] is False
    assert document["aggregates"] == []
    assert "The run is incomplete" in (root / "eval.md").read_text(encoding="utf-8")


def test_another_project_root(project: Project, kensa: Kensa, tmp_path: Path) -> None:
    project({})
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    ended = kensa(folder, "eval", "--project-root", "../..", "--json-report", "eval.json")
    assert ended.returncode == 0
    assert (folder / "eval.json").is_file()
    without = kensa(folder, "eval")
    assert without.returncode == 4
    assert "--project-root" in without.stdout


def test_a_run_across_two_workers_leaves_one_result(project: Project, kensa: Kensa) -> None:
    root = project({})
    ended = kensa(root, "eval", "--", "-n", "2", "-q")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("Kensa summary") == 1
    assert len(list((root / ".kensa" / "results").glob("*.json"))) == 1


def test_only_a_smoke_test_is_not_enough(project: Project, kensa: Kensa) -> None:
    root = project({"tests/evals/test_kensa_smoke.py": SMOKE})
    ended = kensa(root, "eval", "tests/evals/test_kensa_smoke.py")
    assert ended.returncode == 1
    assert "error: only the smoke test passed" in ended.stderr
    assert kensa(root, "eval").returncode == 0


def test_without_a_judge_an_unjudged_eval_is_ready_but_no_pass(
    project: Project, kensa: Kensa
) -> None:
    judged = """
        import pytest
        from kensa.pytest import judge, kensa_case

        @pytest.mark.kensa
        @pytest.mark.parametrize("case", [kensa_case(id="a", input="x")])
        def test_judged(case, kensa_run):
            assert judge(case.run(kensa_run), "is polite").passed
    """
    root = project({"tests/evals/test_shouts.py": judged})
    ended = kensa(root, "eval", "--no-judge", "--markdown-report", "eval.md")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "| UNJUDGED |" in (root / "eval.md").read_text(encoding="utf-8")
    assert kensa(root, "eval", KENSA_JUDGE_RESULT="pass").returncode == 0
    assert kensa(root, "eval", KENSA_JUDGE_RESULT="fail").returncode == 1


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("-k", "nothing_of_that_name"), 5, "no tests were collected (pytest exit 5)"),
        (("--no-such-option",), 4, "pytest was called wrongly (pytest exit 4)"),
        (("-p", "no:kensa"), 4, "pytest was called wrongly (pytest exit 4)"),
    ],
)
def test_pytests_own_status_is_kept(
    words: tuple[str, ...], status: int, said: str, project: Project, kensa: Kensa
) -> None:
    ended = kensa(project({}), "eval", "--", *words)
    assert ended.returncode == status
    assert f"error: {said}" in ended.stderr


def test_a_broken_pyproject_is_pytests_sentence_and_no_traceback(
    project: Project, kensa: Kensa
) -> None:
    root = project({"pyproject.toml": "[tool.kensa\n"})
    for words in (["eval"], ["eval", "--json"], ["doctor"], ["--version"]):
        ended = kensa(root, *words)
        assert "Traceback" not in ended.stdout + ended.stderr
    assert kensa(root, "eval").returncode == 4


def test_ctrl_c_exits_130_and_keeps_what_was_finished(project: Project) -> None:
    stuck = """
        import os, signal, time
        import pytest
        from kensa.pytest import kensa_case

        @pytest.mark.kensa(trials=2)
        @pytest.mark.parametrize("case", [kensa_case(id="a", input="x")])
        def test_stuck(case, kensa_run, request):
            case.run(kensa_run)
            if request.node.name.endswith("trial2]"):
                os.killpg(0, signal.SIGINT)  # as a terminal does, to all of the group
                time.sleep(60)
    """
    root = project({"tests/evals/test_shouts.py": stuck})
    ended = subprocess.run(
        [sys.executable, "-m", "kensa", "eval", "--json-report", "eval.json"],
        cwd=root,
        env={**os.environ, "PYTEST_ADDOPTS": "-p no:hypothesispytest -p no:langsmith_plugin"},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 130, ended.stdout + ended.stderr
    assert "error: interrupted" in ended.stderr
    document = json.loads((root / "eval.json").read_text(encoding="utf-8"))
    assert document["complete"] is False
    assert [trial["status"] for trial in document["trials"]][:1] == ["pass"]
