"""A run says which of its judgements no calibration covers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kensa.calibration import Calibration
from kensa.calibration_file import digest_of, store_calibrations
from kensa.model_judge import judge_fingerprint
from seatrial.testing import ModelServer, ReceivedRequest, StructuredReply

_REMARKS = ("uncalibrated: ", "calibrations ")
EVAL = """
import pytest
from kensa.pytest import judge

@pytest.mark.kensa(trials=2)
def test_it():
    assert judge("out", "polite").passed
    assert judge("out", "short").passed
"""


PANEL = """
import pytest
from kensa.pytest import judge
from seatrial.panel import Panel

@pytest.mark.kensa
def test_it():
    panel = Panel(models=("openai:m", "openai:a, b", "openai:c"))
    assert judge("out", "polite", panel=panel).passed
"""
PROVIDER = """
from kensa.judge import JudgeResult, set_judge_provider

class Ours:
    def judge(self, **question):
        return JudgeResult(passed=True, reasoning="r", provider="ours")

def pytest_configure(config):
    set_judge_provider(Ours())

def pytest_unconfigure(config):
    set_judge_provider(None)
"""
INI = "kensa_judge_calibrations = tests/*.calibration.json\n"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An eval with two criteria, and labels beside it."""

    def answer(request: ReceivedRequest) -> StructuredReply:
        passed = request.model != "strict"
        return StructuredReply({"reasoning": "r", "evidence": [], "passed": passed})

    with ModelServer(answer=answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        monkeypatch.setenv("KENSA_JUDGE_MODEL", "openai:m")
        pytester.makeini(f"[pytest]\n{INI}")
        (pytester.path / "tests").mkdir()
        pytester.makepyfile(**{"tests/test_it": EVAL})
        (pytester.path / "tests" / "labels.jsonl").write_text("{}\n")
        yield pytester.path / "tests" / "labels.jsonl"


def store(labels: Path, calibrations: list[Calibration]) -> None:
    store_calibrations(labels, digest_of(labels), calibrations)


def covering(*criteria: str, model: str = "openai:m") -> list[Calibration]:
    return [
        Calibration(rubric=judge_fingerprint(text), model=model, criteria=text, true_pass=1)
        for text in criteria
    ]


def remarks(pytester: pytest.Pytester, *options: str, status: int = 0) -> list[str]:
    ended = pytester.runpytest("tests", *options)
    assert ended.ret == status
    return [line for line in ended.outlines if line.startswith(_REMARKS)]


def test_judgements_are_not_uncalibrated_before_there_is_any_calibration(
    pytester: pytest.Pytester, project: Path
) -> None:
    assert remarks(pytester) == ["calibrations not found: tests/*.calibration.json"]


def test_without_the_option_nothing_is_said(pytester: pytest.Pytester, project: Path) -> None:
    store(project, covering("other"))
    pytester.makeini("[pytest]\n")
    assert remarks(pytester) == []


@pytest.mark.parametrize("pattern", ["{tests}/labels.calibration.json", "**/*.calibration.json"])
def test_patterns_may_be_absolute_or_go_deep(
    pytester: pytest.Pytester, project: Path, pattern: str
) -> None:
    store(project, covering("polite", "short"))
    chosen = pattern.format(tests=project.parent)
    pytester.makeini(f"[pytest]\nkensa_judge_calibrations = {chosen} '' tests\n")
    assert remarks(pytester) == ["calibrations not found: ", "calibrations not found: tests"]


def test_a_judge_whose_rubric_or_model_is_not_covered_is_uncalibrated(
    pytester: pytest.Pytester, project: Path
) -> None:
    store(project, covering("polite", "short"))
    assert remarks(pytester) == []
    project.with_name("labels.calibration.json").unlink()
    store(project, covering("polite") + covering("short", model="openai:other"))
    assert remarks(pytester) == ['uncalibrated: 2 judgements: "short" by openai:m (2)']


def test_criteria_that_no_calibration_knows_are_named_by_where_they_are_used(
    pytester: pytest.Pytester, project: Path
) -> None:
    store(project, covering("polite"))
    rubric = judge_fingerprint("short")
    assert remarks(pytester) == [
        f"uncalibrated: 2 judgements: rubric {rubric} of tests/test_it.py::test_it by openai:m (2)"
    ]


@pytest.mark.parametrize("setting", ["KENSA_JUDGE_RESULT", "--kensa-no-judge", "provider"])
def test_only_judgements_of_models_need_a_calibration(
    pytester: pytest.Pytester, project: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    store(project, covering("other"))
    if setting == "KENSA_JUDGE_RESULT":
        monkeypatch.setenv(setting, "pass")
    elif setting == "provider":
        pytester.makeconftest(PROVIDER)
    else:
        pytester.makeini(f"[pytest]\naddopts = {setting}\n{INI}")
    assert remarks(pytester) == []


def test_each_model_of_a_panel_needs_its_calibration(
    pytester: pytest.Pytester, project: Path
) -> None:
    pytester.makepyfile(**{"tests/test_it": PANEL})
    store(project, covering("polite") + covering("polite", model="openai:a, b"))
    assert remarks(pytester) == ['uncalibrated: 1 judgement: "polite" by openai:c (1)']


def test_a_panel_that_did_not_agree_gave_no_judgement(
    pytester: pytest.Pytester, project: Path
) -> None:
    split = PANEL.replace('"openai:a, b", "openai:c"', '"openai:strict"')
    pytester.makepyfile(**{"tests/test_it": split})
    store(project, covering("other"))
    assert remarks(pytester, status=1) == []


def test_workers_judgements_count(pytester: pytest.Pytester, project: Path) -> None:
    store(project, covering("polite") + covering("short", model="openai:other"))
    assert remarks(pytester, "-n1") == ['uncalibrated: 2 judgements: "short" by openai:m (2)']


def test_calibrations_whose_labels_changed_cover_nothing(
    pytester: pytest.Pytester, project: Path
) -> None:
    store(project, covering("polite", "short"))
    project.write_text("changed\n")
    uncalibrated, stale = remarks(pytester)
    assert uncalibrated.startswith("uncalibrated: 4 judgements: ")
    assert '"polite" by openai:m (2)' in uncalibrated
    assert '"short" by openai:m (2)' in uncalibrated
    assert stale.startswith("calibrations are stale: 2 in ")
    assert stale.endswith("labels.calibration.json, whose labels have changed since")


def test_a_file_that_is_none_is_said_and_fails_nothing(
    pytester: pytest.Pytester, project: Path
) -> None:
    project.with_name("labels.calibration.json").write_text(json.dumps({"a": 1}))
    assert any("calibrations not used" in line for line in remarks(pytester))
