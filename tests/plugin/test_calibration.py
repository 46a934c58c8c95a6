"""A run says which of its judgements no calibration covers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kensa.calibration import Calibration
from kensa.calibration_file import store_calibrations
from kensa.model_judge import judge_fingerprint
from seatrial.testing import ModelServer, StructuredReply

_REMARKS = ("uncalibrated: ", "calibrations ")
EVAL = """
import pytest
from kensa.pytest import judge

@pytest.mark.kensa(trials=2)
def test_it():
    assert judge("out", "polite").passed
    assert judge("out", "short").passed
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An eval with two criteria, and labels beside it."""
    reply = StructuredReply({"reasoning": "r", "evidence": [], "passed": True})
    with ModelServer(answer=reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        monkeypatch.setenv("KENSA_JUDGE_MODEL", "openai:m")
        pytester.makeini("[pytest]\nkensa_judge_calibrations = tests/*.calibration.json\n")
        (pytester.path / "tests").mkdir()
        pytester.makepyfile(**{"tests/test_it": EVAL})
        (pytester.path / "tests" / "labels.jsonl").write_text("{}\n")
        yield pytester.path / "tests" / "labels.jsonl"


def covering(*criteria: str, model: str = "openai:m") -> list[Calibration]:
    return [
        Calibration(rubric=judge_fingerprint(text), model=model, criteria=text, true_pass=1)
        for text in criteria
    ]


def remarks(pytester: pytest.Pytester) -> list[str]:
    ended = pytester.runpytest("tests")
    assert ended.ret == 0
    return [line for line in ended.outlines if line.startswith(_REMARKS)]


def test_without_any_calibration_nothing_is_said(pytester: pytest.Pytester, project: Path) -> None:
    assert remarks(pytester) == []


def test_a_judge_whose_rubric_or_model_is_not_covered_is_uncalibrated(
    pytester: pytest.Pytester, project: Path
) -> None:
    store_calibrations(project, covering("polite", "short"))
    assert remarks(pytester) == []
    project.with_name("labels.calibration.json").unlink()
    store_calibrations(project, covering("polite") + covering("short", model="openai:other"))
    rubric = judge_fingerprint("short")
    assert remarks(pytester) == [f"uncalibrated: 2 judgements: rubric {rubric} by openai:m (2)"]


def test_calibrations_whose_labels_changed_cover_nothing(
    pytester: pytest.Pytester, project: Path
) -> None:
    store_calibrations(project, covering("polite", "short"))
    project.write_text("changed\n")
    uncalibrated, stale = remarks(pytester)
    assert uncalibrated.startswith("uncalibrated: 4 judgements")
    assert stale.startswith("calibrations are stale")


def test_a_file_that_is_none_is_said_and_fails_nothing(
    pytester: pytest.Pytester, project: Path
) -> None:
    project.with_name("labels.calibration.json").write_text(json.dumps({"a": 1}))
    assert any("calibrations not used" in line for line in remarks(pytester))
