"""A run's results, read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kensa.cli.run_results import no_results, read_results, readiness
from seatrial.errors import CodecError
from seatrial.snapshot import JsonObject


def document(*aggregates: JsonObject) -> JsonObject:
    return {
        "schema_version": "kensa.results.v1",
        "run_id": "r1",
        "complete": True,
        "interruption": None,
        "trials": [],
        "aggregates": list(aggregates),
    }


def aggregate(verdict: str | None, *, smoke: bool = False) -> JsonObject:
    return {"group_id": "a", "verdict": verdict, "smoke": smoke}


def test_the_results_of_the_run_are_read(tmp_path: Path) -> None:
    path = tmp_path / "r1.json"
    path.write_text(json.dumps(document()), encoding="utf-8")
    assert read_results(path, "r1") == document()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[]", "schema None"),
        ('{"schema_version": "kensa.results.v9"}', "schema 'kensa.results.v9'"),
        (json.dumps(document() | {"run_id": "r0"}), "of the run 'r0', not 'r1'"),
    ],
)
def test_results_that_are_damaged_or_of_another_run_are_refused(
    text: str, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "r1.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CodecError, match=reason):
        read_results(path, "r1")


def test_missing_results_are_named(tmp_path: Path) -> None:
    with pytest.raises(CodecError, match=r"wrote no results: .*r1\.json does not exist"):
        read_results(tmp_path / "r1.json", "r1")


def test_a_document_without_results_says_why_in_the_same_form() -> None:
    empty = no_results("r1", "the disk is full")
    assert empty.keys() == document().keys()
    assert empty["complete"] is False
    assert empty["interruption"] == {"kind": "no_results", "message": "the disk is full"}


@pytest.mark.parametrize(
    ("aggregates", "ready", "passing", "smoke"),
    [
        ([], False, 0, 0),
        ([aggregate("pass")], True, 1, 0),
        ([aggregate("inconclusive")], True, 1, 0),
        ([aggregate("pass", smoke=True)], False, 0, 1),
        ([aggregate("fail"), aggregate("flaky"), aggregate("error")], False, 0, 0),
        ([aggregate("partial"), aggregate(None)], False, 0, 0),
        ([aggregate("fail"), aggregate("pass"), aggregate("pass", smoke=True)], True, 1, 1),
    ],
)
def test_one_passing_case_that_is_no_smoke_test_makes_evals_ready(
    aggregates: list[JsonObject], ready: bool, passing: int, smoke: int
) -> None:
    found = readiness(document(*aggregates))
    assert found.ready is ready
    assert found.document()["evals_readiness"] == {"ready": ready, "passing_eval_count": passing}
    assert found.smoke_passing == smoke
