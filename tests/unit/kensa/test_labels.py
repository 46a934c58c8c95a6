"""Labels: what people said of outputs, line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kensa.labels import read_labels
from seatrial.errors import UsageError


def lines(path: Path, *documents: object) -> Path:
    path.write_text("\n".join(json.dumps(document) for document in documents))
    return path


def test_labels_are_read_with_their_names_or_numbers(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "labels.jsonl",
        {"output": "a", "passed": True, "criteria": "polite", "id": "first"},
        {"output": {"x": 1}, "passed": False, "input": "q", "context": [1], "trace": {"spans": []}},
    )
    path.write_text(path.read_text().replace("\n", "\n\n"))
    first, second = read_labels(path, criteria="short")
    assert (first.name, first.criteria, first.passed) == ("first", "polite", True)
    assert (second.name, second.criteria) == ("line 3", "short")
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
        (json.dumps({**GOOD, "criteria": None}), "line 1: criteria must be text"),
        (json.dumps({**GOOD, "id": None}), "line 1: id must be text or a whole number"),
        (json.dumps({**GOOD, "id": True}), "line 1: id must be text or a whole number"),
        (
            '{"output": "a", "passed": true, "passed": false}',
            "line 1: not JSON: a name is given twice",
        ),
        ('{"output": NaN, "passed": true}', "line 1: not JSON: NaN is no JSON"),
        (
            f"{json.dumps({**GOOD, 'id': 7})}\n{json.dumps({**GOOD, 'id': '7'})}",
            "line 2: the id 7 was",
        ),
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
def test_any_bytes_are_labels_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    path.write_bytes(data)
    try:
        found = read_labels(path, criteria="c")
    except UsageError:
        return
    assert found


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.lists(
    st.fixed_dictionaries(
        {"output": JSON, "passed": st.booleans()},
        optional={
            "criteria": st.text(min_size=1).filter(str.strip),
            "input": JSON,
            "context": JSON,
            "trace": JSON,
            "id": st.text() | st.integers(),
        },
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda document: str(document.get("id", id(document))),
)


@given(documents=DOCUMENTS)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, documents: list[dict[str, Any]]
) -> None:
    path = lines(tmp_path_factory.mktemp("labels") / "labels.jsonl", *documents)
    labels = read_labels(path, criteria="standard")
    assert len(labels) == len(documents)
    for number, (label, document) in enumerate(zip(labels, documents, strict=True), start=1):
        assert label.name == str(document.get("id", f"line {number}"))
        assert label.passed is document["passed"]
        assert label.question == {
            "output": document["output"],
            "criteria": document.get("criteria", "standard"),
            "input": document.get("input"),
            "trace": document.get("trace"),
            "context": document.get("context"),
        }


def test_what_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_bytes(b" " * 5_000_001)
    with pytest.raises(UsageError, match="line 1: longer than 5,000,000 bytes"):
        read_labels(path)
    path.write_bytes(b"\n" * 100_001)
    with pytest.raises(UsageError, match="more than 100,000 lines"):
        read_labels(path)


def test_an_error_shows_hostile_text_escaped(tmp_path: Path) -> None:
    path = lines(tmp_path / "labels.jsonl", {**GOOD, "\x1b[2J": 1})
    with pytest.raises(UsageError) as caught:
        read_labels(path)
    assert "\x1b" not in str(caught.value)
