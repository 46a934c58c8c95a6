"""How far a judge agrees with people: labels, counts, figures, and what is kept of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from kensa.calibration import (
    Calibration,
    Comparison,
    calibrate_async,
    calibrations_of,
    interval_of,
    overall,
)
from kensa.calibration_file import path_beside, read_calibrations, store_calibrations
from kensa.labels import Label, read_labels
from kensa.model_judge import judge_fingerprint
from seatrial.errors import ModelConfigurationError, UsageError
from seatrial.models import ModelChoice
from seatrial.testing import ErrorReply, ModelServer, StructuredReply

CHOICE = ModelChoice("openai", "judge")


def lines(path: Path, *documents: object) -> Path:
    path.write_text("\n".join(json.dumps(document) for document in documents))
    return path


# -- labels ---------------------------------------------------------------------------------


def test_labels_are_read_with_their_names_or_numbers(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "labels.jsonl",
        {"output": "a", "passed": True, "criteria": "polite", "id": "first"},
        {"output": {"x": 1}, "passed": False, "input": "q", "context": [1], "trace": {"spans": []}},
    )
    path.write_text(path.read_text().replace("\n", "\n\n"))
    first, second = read_labels(path, criteria="short")
    assert (first.name, first.criteria, first.passed) == ("first", "polite", True)
    assert (second.name, second.criteria) == ("3", "short")
    assert second.question == {
        "output": {"x": 1},
        "criteria": "short",
        "input": "q",
        "trace": {"spans": []},
        "context": [1],
    }


GOOD = {"output": "a", "passed": True, "criteria": "c"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no labels"),
        ("{", "line 1: not JSON"),
        ("[1]", "line 1: expected an object, not a list"),
        (json.dumps({**GOOD, "verdict": 1}), "line 1: unknown name 'verdict'"),
        (json.dumps({"passed": True, "criteria": "c"}), "line 1: output is missing"),
        (json.dumps({**GOOD, "passed": "yes"}), "line 1: passed must be true or false"),
        (json.dumps({**GOOD, "criteria": " "}), "line 1: criteria must be text"),
        (json.dumps({**GOOD, "id": "x"}) + "\n" + json.dumps({**GOOD, "id": "x"}), "given twice"),
        (json.dumps(GOOD) + "\n" + "[" * 100_000, "line 2: not JSON"),
    ],
)
def test_a_line_that_is_no_label_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_labels(path)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl: No such file"):
        read_labels(tmp_path / "none.jsonl")


@given(st.binary(max_size=200))
def test_any_bytes_are_labels_or_an_error(tmp_path_factory: Any, data: bytes) -> None:
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    path.write_bytes(data)
    try:
        found = read_labels(path, criteria="c")
    except UsageError:
        return
    assert found


# -- judging --------------------------------------------------------------------------------


def label(name: str, passed: bool, criteria: str = "polite") -> Label:
    return Label(name=name, output=name, passed=passed, criteria=criteria)


def serving(answer: Callable[[str], object], monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    """A judge's model that answers by the output that it is asked about."""

    def reply(request: Any) -> Any:
        answered = answer(json.loads(request.messages[-1].text)["output"])
        if isinstance(answered, bool):
            return StructuredReply({"reasoning": "r", "evidence": [], "passed": answered})
        return answered

    return ModelServer(answer=reply)


def test_every_output_is_judged_and_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEATRIAL_MODEL_ATTEMPTS", "1")
    said = {"tp": True, "fp": True, "fn": False, "tn": False, "broken": ErrorReply(status=400)}
    labels = [
        label("tp", True),
        label("fp", False),
        label("fn", True, "short"),
        label("tn", False),
        label("broken", True),
    ]
    progress: list[int] = []
    with serving(lambda output: said[output], monkeypatch) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        work = calibrate_async(labels, model=CHOICE, tell=progress.append)
        comparisons = asyncio.run(work)
    assert [c.judged for c in comparisons] == [True, True, False, False, None]
    assert [c.disagrees for c in comparisons] == [False, True, True, False, False]
    assert progress == [1, 2, 3, 4, 5]
    total = overall(comparisons, CHOICE)
    counts = (total.true_pass, total.false_pass, total.false_fail, total.true_fail, total.unable)
    assert counts == (1, 1, 1, 1, 1)
    assert (total.agreement, total.sensitivity, total.specificity) == ((2, 4), (1, 2), (1, 2))
    polite, short = calibrations_of(comparisons, CHOICE)
    assert (polite.criteria, short.criteria) == ("polite", "short")
    assert (polite.rubric, polite.model) == (judge_fingerprint("polite"), "openai:judge")
    assert (short.judged, short.false_fail) == (1, 1)


def test_a_judge_that_contradicts_itself_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, int] = {}

    def answer(output: str) -> bool:
        asked[output] = asked.get(output, 0) + 1
        return output == "firm" or asked[output] % 2 == 0

    with serving(answer, monkeypatch) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        labels = [label("firm", True), label("fickle", True)]
        comparisons = asyncio.run(calibrate_async(labels, model=CHOICE, repeats=3))
        # A repeat is a question of its own, and is stored as one.
        again = asyncio.run(calibrate_async(labels, model=CHOICE, repeats=3))
    assert asked == {"firm": 3, "fickle": 3}
    assert again[1].votes == comparisons[1].votes == (False, True, False)
    assert [c.flips for c in comparisons] == [False, True]
    assert overall(comparisons, CHOICE).flip_rate == (1, 2)


def test_no_more_are_asked_at_once_than_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda output: True, monkeypatch) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        labels = [label(str(number), True) for number in range(12)]
        asyncio.run(calibrate_async(labels, model=CHOICE, at_once=2))
        assert server.most_in_flight <= 2
        assert len(server.requests) == 12


def test_a_model_that_cannot_be_asked_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(calibrate_async([label("a", True)], model=CHOICE))
    assert caught.group_contains(ModelConfigurationError)


# -- figures --------------------------------------------------------------------------------


@given(part=st.integers(0, 60), rest=st.integers(0, 60))
def test_intervals_are_exact(part: int, rest: int) -> None:
    interval = interval_of((part, part + rest))
    if part + rest == 0:
        assert interval is None
        return
    assert interval is not None
    exact = binomtest(part, part + rest).proportion_ci(0.95, method="exact")
    assert interval.low == pytest.approx(exact.low, abs=1e-9)
    assert interval.high == pytest.approx(exact.high, abs=1e-9)


def test_kappa_that_means_nothing_is_none() -> None:
    assert Calibration(rubric="", model="", criteria="", true_pass=5).kappa is None
    assert Calibration(rubric="", model="", criteria="").kappa is None
    agreeing = Calibration(rubric="", model="", criteria="", true_pass=5, true_fail=5)
    assert agreeing.kappa is not None
    assert agreeing.kappa.value == pytest.approx(1.0)


# -- what is kept ---------------------------------------------------------------------------


def calibration(rubric: str, model: str = "openai:judge", **counts: int) -> Calibration:
    return Calibration(rubric=rubric, model=model, criteria="c", **counts)


def test_calibrations_are_kept_beside_their_labels_and_replace_only_their_own(
    tmp_path: Path,
) -> None:
    labels = lines(tmp_path / "labels.jsonl", GOOD)
    store_calibrations(labels, [calibration("r1", true_pass=1), calibration("r2")])
    path = store_calibrations(
        labels, [calibration("r1", true_pass=2), calibration("r1", "other:m")]
    )
    assert path == path_beside(labels) == tmp_path / "labels.calibration.json"
    stored = read_calibrations(path)
    assert stored.covered == {("r1", "openai:judge"), ("r2", "openai:judge"), ("r1", "other:m")}
    assert not stored.is_stale
    counts = {
        (entry["rubric"], entry["model"]): entry["counts"]["true_pass"]
        for entry in json.loads(path.read_text())["calibrations"]
    }
    assert counts[("r1", "openai:judge")] == 2


def test_calibrations_are_stale_once_their_labels_change(tmp_path: Path) -> None:
    labels = lines(tmp_path / "labels.jsonl", GOOD)
    path = store_calibrations(labels, [calibration("r1")])
    lines(labels, {**GOOD, "passed": False})
    assert read_calibrations(path).is_stale
    labels.unlink()
    assert read_calibrations(path).is_stale


@pytest.mark.parametrize("text", ["{", "[]", '{"schema_version": "other"}', "[" * 100_000])
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    labels = lines(tmp_path / "labels.jsonl", GOOD)
    path_beside(labels).write_text(text)
    with pytest.raises(UsageError, match=r"labels\.calibration\.json"):
        read_calibrations(path_beside(labels))
    with pytest.raises(UsageError):
        store_calibrations(labels, [calibration("r1")])
    assert path_beside(labels).read_text() == text


def test_a_comparison_of_one_answer_cannot_flip() -> None:
    one = Comparison(label("a", True), (True,), "r", None)
    unsure = Comparison(label("a", True), (None, True, None), "r", None)
    assert (one.flips, unsure.flips, unsure.judged) == (None, None, None)
