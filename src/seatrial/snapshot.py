"""Copies of foreign values as plain JSON, so that later mutation changes no record.

Two ways in: `snapshot` accepts anything and says what it had to drop; `strict_json` accepts only
what is JSON already and names the first place that is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TypeAlias

from seatrial.errors import NotJsonError

__all__ = ["MAX_TEXT", "Json", "JsonObject", "snapshot", "strict_json"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = "dict[str, Json]"

MAX_TEXT = 1_000_000
"""Characters that one string in a record may have; the rest is dropped and counted."""

_MAX_DEPTH = 32
_MAX_STRICT_DEPTH = 200


def snapshot(value: object) -> Json:
    """A JSON copy of any value; never raises.

    Dataclasses become objects, enums their values, tuples and sets lists. NaN, infinities,
    cycles, bytes and unknown objects become text that says so. Strings are cut at `MAX_TEXT`.
    """
    return _snapshot(value, 0, frozenset())


def _snapshot(value: object, depth: int, inside: frozenset[int]) -> Json:
    try:
        return _copy(value, depth, inside)
    except Exception as error:  # noqa: BLE001 - foreign code: any method of a foreign type may break
        return f"<{type(value).__name__}: reading it failed with {type(error).__name__}>"


def _copy(value: object, depth: int, inside: frozenset[int]) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if type(value) is str:  # most values are
        return _text(value)
    if isinstance(value, Enum):
        return _snapshot(value.value, depth, inside)
    if isinstance(value, str):
        return _text(str(value))
    if isinstance(value, int):
        return int(value) if _is_printable(value) else f"<integer of {value.bit_length()} bits>"
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if id(value) in inside:
        return "<cycle>"
    if depth >= _MAX_DEPTH:
        return f"<deeper than {_MAX_DEPTH} levels>"
    return _container(value, depth, inside | {id(value)})


def _container(value: object, depth: int, inside: frozenset[int]) -> Json:
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name, None) for field in fields(value)}
    if isinstance(value, (dict, Mapping)):
        return {
            _text(key if isinstance(key, str) else _repr(key)): _snapshot(item, depth + 1, inside)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        items = sorted(value, key=_repr) if isinstance(value, (set, frozenset)) else value
        return [_snapshot(item, depth + 1, inside) for item in items]
    return _text(_repr(value))


def _is_printable(number: int) -> bool:
    # Python refuses to print larger integers, json.dumps included.
    return number.bit_length() < 10_000


def _text(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}… [{len(text) - MAX_TEXT} more characters dropped]"


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - foreign code: a broken __repr__ must not lose the record
        return f"<{type(value).__name__}: repr failed with {type(error).__name__}>"


def strict_json(value: object, *, what: str) -> Json:
    """A JSON copy of a value that must be JSON already.

    Tuples count as lists and dict keys must be text. Strings keep their full length.

    Args:
        value: The value to copy.
        what: What the value is, for the error: "the harness's output".

    Raises:
        NotJsonError: If any part is not JSON; NaN, infinities and cycles included. The message
            gives the path to it.
    """
    return _strict(value, what, "$", frozenset())


def _strict(value: object, what: str, path: str, inside: frozenset[int]) -> Json:  # noqa: C901 - one branch per JSON kind
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        if not _is_printable(value):
            raise NotJsonError(
                f"{what} must be JSON, but {path} is an integer of {value.bit_length()} bits"
            )
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJsonError(f"{what} must be JSON, but {path} is {value!r}")
        return float(value)
    if id(value) in inside:
        raise NotJsonError(f"{what} must be JSON, but {path[:200]} contains itself")
    if len(inside) > _MAX_STRICT_DEPTH:
        raise NotJsonError(f"{what} must be JSON of at most {_MAX_STRICT_DEPTH} levels")
    inside |= {id(value)}
    if isinstance(value, Mapping):
        result: dict[str, Json] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotJsonError(
                    f"{what} must be JSON, but {path} has the key {_repr(key)[:80]}, not a string"
                )
            result[str(key)] = _strict(item, what, f"{path}.{key[:80]}", inside)
        return result
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [_strict(item, what, f"{path}[{i}]", inside) for i, item in enumerate(value)]
    raise NotJsonError(
        f"{what} must be JSON, but {path} is a {type(value).__name__}: {_repr(value)[:80]}"
    )
