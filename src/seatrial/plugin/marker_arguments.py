"""Reading a marker's arguments: every value is checked, and what is unknown is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from seatrial.errors import UsageError

__all__ = [
    "LIMITS",
    "concurrency_argument",
    "marker_arguments",
    "rate_argument",
    "timeout_argument",
    "whole_number_argument",
]

LIMITS = ("concurrency", "timeout_s")
"""Arguments that every face's marker takes: they limit how its trials run."""


def marker_arguments(
    mark: pytest.Mark, *, first: str, known: tuple[str, ...]
) -> Mapping[str, object]:
    """The arguments of `mark` by name; only `first` may be given without its name.

    Raises:
        UsageError: On an unknown name, a further positional argument, or `first` given twice.
    """
    arguments = dict(mark.kwargs)
    for name in arguments:
        if name not in known:
            raise UsageError(
                f"@pytest.mark.{mark.name} has no argument {name!r}; it takes {', '.join(known)}"
            )
    if len(mark.args) > 1:
        raise UsageError(
            f"@pytest.mark.{mark.name} takes one positional argument ({first}),"
            f" got {len(mark.args)}: {mark.args!r}"
        )
    if mark.args:
        if first in arguments:
            raise UsageError(
                f"@pytest.mark.{mark.name} got {first} twice:"
                f" {mark.args[0]!r} and {first}={arguments[first]!r}"
            )
        arguments[first] = mark.args[0]
    return arguments


def whole_number_argument(mark: pytest.Mark, name: str, value: object) -> int:
    """`value` as a whole number of at least 1.

    Raises:
        UsageError: If it is anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(
            f"@pytest.mark.{mark.name}: {name}={value!r}, expected a whole number of at least 1"
        )
    return value


def rate_argument(mark: pytest.Mark, name: str, value: object) -> float:
    """`value` as a rate in (0, 1].

    Raises:
        UsageError: If it is anything else.
    """
    # NaN is not below or above anything, so it is refused too.
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 < value <= 1:  # type: ignore[operator]
        raise UsageError(
            f"@pytest.mark.{mark.name}: {name}={value!r}, expected a rate in (0, 1], such as 0.9"
        )
    return float(value)  # type: ignore[arg-type]


def concurrency_argument(mark: pytest.Mark, arguments: Mapping[str, object]) -> int | None:
    """How many trials of the test may be in flight at once, at least 1; None if it does not say.

    Raises:
        UsageError: If it is anything but a whole number of at least 1.
    """
    if "concurrency" not in arguments:
        return None
    return whole_number_argument(mark, "concurrency", arguments["concurrency"])


def timeout_argument(mark: pytest.Mark, arguments: Mapping[str, object]) -> float | None:
    """How long a trial's body may take, in seconds above 0; None if it does not say.

    Raises:
        UsageError: If it is anything but a positive finite number.
    """
    if "timeout_s" not in arguments:
        return None
    value = arguments["timeout_s"]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            seconds = float(value)
        except OverflowError:
            seconds = math.inf
        if seconds > 0 and math.isfinite(seconds):
            return seconds
    raise UsageError(
        f"@pytest.mark.{mark.name}: timeout_s={value!r}, expected a positive finite number of"
        " seconds, such as 60"
    )
