"""Snapshots of anything are JSON that stays as it is."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.errors import NotJsonError
from seatrial.snapshot import snapshot, strict_json


@dataclass
class Box:
    content: Any


texts = st.text(st.characters(exclude_categories=()), max_size=10)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(2**9_990, 2**10_010)
    | st.floats()
    | texts
    | st.binary(max_size=5)
    | st.complex_numbers()
)
hashables = st.integers() | texts | st.binary(max_size=5) | st.none()
anything = st.recursive(
    leaves | st.sets(hashables, max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(hashables, inner, max_size=3)
        | inner.map(Box)
    ),
    max_leaves=8,
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(value=anything)
def test_any_value_becomes_json_that_json_reads_back(value: Any) -> None:
    copy = snapshot(value)
    assert json.loads(json.dumps(copy, allow_nan=False)) == copy


@given(value=anything)
def test_a_snapshot_of_a_snapshot_changes_nothing(value: Any) -> None:
    assert snapshot(snapshot(value)) == snapshot(value)


@given(value=json_values)
def test_json_is_its_own_snapshot_and_strict_copy(value: Any) -> None:
    assert snapshot(value) == value
    assert strict_json(value, what="it") == value


@given(value=anything)
def test_a_value_is_strict_json_or_refused_with_one_kind_of_error(value: Any) -> None:
    with contextlib.suppress(NotJsonError):
        copy = strict_json(value, what="it")
        assert json.loads(json.dumps(copy, allow_nan=False)) == copy


@given(value=anything, place=st.integers(0, 3))
def test_a_cycle_anywhere_is_named_by_both(value: Any, place: int) -> None:
    ring: list[Any] = [1, 2, 3]
    ring.insert(place, [ring])
    outer = {"foreign": value, "ring": ring}
    copy = snapshot(outer)
    assert isinstance(copy, dict)
    assert "<cycle>" in json.dumps(copy["ring"])
    with pytest.raises(NotJsonError):
        strict_json(ring, what="it")
