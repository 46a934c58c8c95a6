"""Calibrations in their file beside the labels: kept, replaced, stale, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kensa.calibration import Calibration
from kensa.calibration_file import digest_of, path_beside, read_calibrations, store_calibrations
from seatrial.errors import UsageError

COUNTS = st.integers(0, 1000)
CALIBRATIONS = st.builds(
    Calibration,
    rubric=st.text(max_size=8),
    model=st.text(max_size=8),
    criteria=st.text(),
    true_pass=COUNTS,
    false_pass=COUNTS,
    false_fail=COUNTS,
    true_fail=COUNTS,
    unable=COUNTS,
    repeated=st.just(5),
    flipped=st.integers(0, 5),
)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.jsonl"
    path.write_text("{}\n")
    return path


def store(labels: Path, *calibrations: Calibration) -> Path:
    return store_calibrations(labels, digest_of(labels), calibrations)


def calibration(rubric: str, model: str = "openai:judge", true_pass: int = 1) -> Calibration:
    return Calibration(rubric=rubric, model=model, criteria=f"as {rubric}", true_pass=true_pass)


def test_calibrations_are_kept_beside_their_labels_and_replace_only_their_own(labels: Path) -> None:
    store(labels, calibration("r1"), calibration("r2"))
    path = store(labels, calibration("r1", true_pass=2), calibration("r1", "other:m"))
    assert path == path_beside(labels) == labels.parent / "labels.calibration.json"
    stored = read_calibrations(path)
    assert stored.covered == {("r1", "openai:judge"), ("r2", "openai:judge"), ("r1", "other:m")}
    assert stored.stale == set()
    assert stored.criteria == {"r1": "as r1", "r2": "as r2"}
    counts = {
        (entry["rubric"], entry["model"]): entry["counts"]["true_pass"]
        for entry in json.loads(path.read_text())["calibrations"]
    }
    assert counts == {
        ("r1", "openai:judge"): 2,
        ("r2", "openai:judge"): 1,
        ("r1", "other:m"): 1,
    }


@given(calibrations=st.lists(CALIBRATIONS, max_size=5, unique_by=lambda c: (c.rubric, c.model)))
def test_what_is_stored_is_read(
    tmp_path_factory: pytest.TempPathFactory, calibrations: list[Calibration]
) -> None:
    labels = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    labels.write_text("{}\n")
    path = store(labels, *calibrations)
    judged = [one for one in calibrations if one.judged]
    stored = read_calibrations(path)
    assert stored.covered == {(one.rubric, one.model) for one in judged}
    assert stored.stale == set()
    entries = json.loads(path.read_text())["calibrations"]
    for entry, one in zip(entries, judged, strict=True):
        assert entry.pop("labels_sha256") == digest_of(labels)
        assert entry.pop("calibrated_at").endswith("+00:00")
        assert entry == one.document()


def test_calibrations_are_stale_once_their_labels_change(labels: Path) -> None:
    path = store(labels, calibration("r1"))
    labels.write_text("changed\n")
    stored = read_calibrations(path)
    assert stored.covered == set()
    assert stored.stale == {("r1", "openai:judge")}
    labels.unlink()
    assert read_calibrations(path).stale == {("r1", "openai:judge")}


def test_a_new_calibration_makes_no_older_one_fresh(labels: Path) -> None:
    store(labels, calibration("r1"))
    labels.write_text("changed\n")
    stored = read_calibrations(store(labels, calibration("r2")))
    assert stored.covered == {("r2", "openai:judge")}
    assert stored.stale == {("r1", "openai:judge")}


def test_labels_that_change_while_they_are_judged_leave_a_stale_calibration(labels: Path) -> None:
    digest = digest_of(labels)
    labels.write_text("changed\n")
    path = store_calibrations(labels, digest, [calibration("r1")])
    assert read_calibrations(path).stale == {("r1", "openai:judge")}


def test_a_judge_that_could_tell_nothing_replaces_no_calibration(labels: Path) -> None:
    path = store(labels, calibration("r1"))
    before = json.loads(path.read_text())["calibrations"]
    out_of_order = Calibration(rubric="r1", model="openai:judge", criteria="c", unable=9)
    store(labels, out_of_order)
    assert json.loads(path.read_text())["calibrations"] == before


@pytest.mark.parametrize("text", ["{", "[]", '{"schema_version": "other"}', "[" * 100_000])
def test_a_file_of_something_else_is_refused_and_left_alone(labels: Path, text: str) -> None:
    path = labels.parent / "labels.calibration.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"labels\.calibration\.json"):
        read_calibrations(path)
    with pytest.raises(UsageError, match=r"labels\.calibration\.json"):
        store(labels, calibration("r1"))
    assert path.read_text() == text


def test_the_calibrations_of_other_labels_are_left_alone(labels: Path) -> None:
    path = store(labels, calibration("r1"))
    others = labels.with_suffix(".json")
    others.write_text("{}\n")
    with pytest.raises(UsageError, match=r"calibrations of 'labels\.jsonl', not of 'labels\.json'"):
        store(others, calibration("r2"))
    assert read_calibrations(path).covered == {("r1", "openai:judge")}


@pytest.mark.parametrize("name", ["", "..", ".", "a\0b", "/etc/passwd", "missing.jsonl", None, 7])
def test_a_file_that_names_no_labels_beside_it_is_stale(labels: Path, name: object) -> None:
    path = store(labels, calibration("r1"))
    path.write_text(json.dumps({**json.loads(path.read_text()), "labels": name}))
    stored = read_calibrations(path)
    assert stored.covered == set()
    assert stored.stale == {("r1", "openai:judge")}


@pytest.mark.parametrize("entries", [None, {}, [1, None], "text"])
def test_entries_that_are_none_cover_nothing(labels: Path, entries: object) -> None:
    path = store(labels, calibration("r1"))
    path.write_text(json.dumps({**json.loads(path.read_text()), "calibrations": entries}))
    stored = read_calibrations(path)
    assert stored.covered == set()
    assert stored.stale == set()
