"""Checks of arguments: one clear error with the value and the allowed range."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Final, Literal, SupportsIndex

__all__ = [
    "Side",
    "checked_counts",
    "checked_open_rate",
    "checked_rate",
    "checked_side",
    "number",
    "whole",
]

Side = Literal["two-sided", "lower", "upper"]
_SIDES: Final = ("two-sided", "lower", "upper")


def whole(name: str, value: SupportsIndex, *, least: int = 0) -> int:
    """`value` as an int of at least `least`.

    Raises:
        TypeError: If it is no whole number. A bool is none: counting booleans is a slip.
        ValueError: If it is too small.
    """
    if isinstance(value, bool):
        raise TypeError(f"{name}={value!r}: expected a whole number, not a bool")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: expected a whole number") from None
    if number < least:
        raise ValueError(f"{name}={number}: expected a whole number >= {least}")
    return number


def checked_counts(
    successes: SupportsIndex, n: SupportsIndex, *, least: int = 1
) -> tuple[int, int]:
    """Successes out of n trials, as ints with 0 <= successes <= n and n >= least.

    Raises:
        TypeError: If one is no whole number.
        ValueError: If one is out of range. No data is not a rate of 0.0: so by default n = 0 is.
    """
    total = whole("n", n, least=least)
    count = whole("successes", successes)
    if count > total:
        raise ValueError(f"successes={count}: expected at most n={total}")
    return count, total


def number(name: str, value: float, expected: str) -> float:
    """`value` as a float, or a TypeError that says what was expected. Text and bools are none."""
    if isinstance(value, bool | str | bytes):
        raise TypeError(f"{name}={value!r}: expected {expected}")
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: expected {expected}") from None


def checked_rate(name: str, value: float) -> float:
    """`value` as a float in [0, 1], or a TypeError or ValueError that names it."""
    rate = number(name, value, "a rate in [0, 1]")
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"{name}={value!r}: expected a rate in [0, 1]")
    return rate


def checked_open_rate(name: str, value: float) -> float:
    """`value` as a float strictly between 0 and 1, or a TypeError or ValueError that names it."""
    rate = number(name, value, "a number strictly between 0 and 1")
    if not 0.0 < rate < 1.0:
        raise ValueError(f"{name}={value!r}: expected a number strictly between 0 and 1")
    return rate


def checked_side(side: str, allowed: Iterable[str] = _SIDES, *, name: str = "side") -> None:
    """Refuse a side, or an alternative, that is not among the allowed words."""
    words = tuple(allowed)
    if side not in words:
        raise ValueError(f"{name}={side!r}: expected one of {', '.join(map(repr, words))}")
