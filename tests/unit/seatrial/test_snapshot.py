"""Copies of foreign values: always JSON, and they say what they had to drop."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

import pytest

from seatrial.errors import NotJsonError
from seatrial.snapshot import MAX_TEXT, snapshot, strict_json


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


@dataclass
class Point:
    x: int
    label: object


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Hostile(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "copy"),
    [
        (None, None),
        (True, True),
        (Colour.RED, "red"),
        (Level.LOW, 1),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        ((1, {2}), [1, [2]]),
        ({1: "a", None: "b"}, {"1": "a", "None": "b"}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (Point(1, Colour.RED), {"x": 1, "label": "red"}),
        (b"\x00", "b'\\x00'"),
        (Broken(), "<Broken: repr failed with RuntimeError>"),
        (Point, f"{Point!r}"),
    ],
)
def test_any_value_becomes_json(value: object, copy: object) -> None:
    assert snapshot(value) == copy


def test_an_integer_that_python_refuses_to_print_is_described() -> None:
    assert snapshot([1 << 20_000]) == ["<integer of 20001 bits>"]
    with pytest.raises(NotJsonError, match=r"but \$\[0\] is an integer of 20001 bits$"):
        strict_json([1 << 20_000], what="it")


def test_a_cycle_is_named_where_it_closes() -> None:
    ring: list[Any] = [1]
    ring.append({"again": ring})
    assert snapshot(ring) == [1, {"again": "<cycle>"}]


def test_a_value_that_appears_twice_is_no_cycle() -> None:
    shared = [1]
    assert snapshot([shared, shared]) == [[1], [1]]


def test_depth_has_an_end() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert "<deeper than 32 levels>" in str(snapshot(deep))


def test_a_huge_text_is_cut_and_says_how_much_is_gone() -> None:
    copy = snapshot("x" * (MAX_TEXT + 7))
    assert isinstance(copy, str)
    assert copy.endswith("x… [7 more characters dropped]")


def test_a_copy_does_not_follow_later_changes() -> None:
    value = {"a": [1]}
    loose, strict = snapshot(value), strict_json(value, what="it")
    value["a"].append(2)
    assert loose == strict == {"a": [1]}


def test_foreign_methods_that_raise_cost_no_record() -> None:
    class Items(dict[str, int]):
        def items(self) -> Any:
            raise RuntimeError("no")

    class Attribute:
        @property
        def __dataclass_fields__(self) -> Any:
            raise RuntimeError("no")

    for value in (Items(a=1), Hostile("x"), Attribute()):
        copy = snapshot([value, "kept"])
        assert isinstance(copy, list)
        assert copy[1] == "kept"


def test_a_very_long_repr_is_cut() -> None:
    class Long:
        def __repr__(self) -> str:
            return "x" * (2 * MAX_TEXT)

    copy = snapshot(Long())
    assert isinstance(copy, str)
    assert len(copy) < MAX_TEXT + 100


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (math.nan, "$ is nan"),
        ({"a": [0, math.inf]}, "$.a[1] is inf"),
        ({"a": {1: 2}}, "$.a has the key 1, not a string"),
        ([b"x"], "$[0] is a bytes: b'x'"),
        ([Broken()], "$[0] is a Broken: <Broken: repr failed with RuntimeError>"),
        ({"s": {1}}, "$.s is a set: {1}"),
    ],
)
def test_what_is_not_json_is_refused_with_its_path(value: object, where: str) -> None:
    with pytest.raises(NotJsonError) as caught:
        strict_json(value, what="the output")
    assert str(caught.value) == f"the output must be JSON, but {where}"


def test_a_cycle_is_not_json() -> None:
    ring: dict[str, Any] = {}
    ring["a"] = [ring]
    with pytest.raises(NotJsonError, match=r"\$\.a\[0\] contains itself"):
        strict_json(ring, what="it")


def test_a_value_nested_too_deeply_is_refused_rather_than_crashed_on() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(NotJsonError, match="at most 200 levels"):
        strict_json(deep, what="it")


def test_what_is_json_already_is_copied_whole() -> None:
    value = OrderedDict(text="x" * (MAX_TEXT + 1), items=(1, 2.5, None, True))
    assert strict_json(value, what="it") == {**value, "items": [1, 2.5, None, True]}
