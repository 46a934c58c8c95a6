"""Reading a marker's arguments: every value is checked, and what is unknown is refused."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from seatrial.errors import UsageError

__all__ = ["marker_arguments", "rate_argument", "whole_number_argument"]


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
