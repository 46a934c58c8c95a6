"""Marker arguments: one positional, all known, all in range."""

from __future__ import annotations

import math

import pytest

from seatrial.errors import UsageError
from seatrial.plugin.marker_arguments import (
    marker_arguments,
    rate_argument,
    whole_number_argument,
)


def read(mark: pytest.MarkDecorator) -> dict[str, object]:
    return dict(marker_arguments(mark.mark, first="n", known=("n", "threshold")))


def test_the_first_argument_may_come_without_its_name() -> None:
    assert read(pytest.mark.trial(3, threshold=0.5)) == {"n": 3, "threshold": 0.5}
    assert read(pytest.mark.trial(n=3)) == {"n": 3}
    assert read(pytest.mark.trial()) == {}


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        (pytest.mark.trial(m=1), "has no argument 'm'; it takes n, threshold"),
        (pytest.mark.trial(1, 2), r"takes one positional argument \(n\), got 2: \(1, 2\)"),
        (pytest.mark.trial(1, n=2), "got n twice: 1 and n=2"),
    ],
)
def test_a_wrong_argument_is_named(mark: pytest.MarkDecorator, message: str) -> None:
    with pytest.raises(UsageError, match=f"^@pytest.mark.trial {message}$"):
        read(mark)


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None, math.nan])
def test_a_whole_number_is_at_least_one(value: object) -> None:
    with pytest.raises(UsageError, match="expected a whole number of at least 1"):
        whole_number_argument(pytest.mark.trial.mark, "n", value)


@pytest.mark.parametrize(
    "value", [0, 0.0, -0.1, 1.0001, True, "1", None, math.nan, math.inf, [0.5]]
)
def test_a_rate_is_above_zero_and_at_most_one(value: object) -> None:
    with pytest.raises(UsageError, match=r"expected a rate in \(0, 1\], such as 0.9"):
        rate_argument(pytest.mark.trial.mark, "threshold", value)


def test_a_rate_that_no_float_can_hold_is_refused_like_any_other() -> None:
    with pytest.raises(UsageError, match="expected a rate"):
        rate_argument(pytest.mark.trial.mark, "threshold", 10**400)


@pytest.mark.parametrize("value", [1, 1.0, 0.5, 5e-324])
def test_a_rate_is_given_as_a_float(value: float) -> None:
    rate = rate_argument(pytest.mark.trial.mark, "threshold", value)
    assert rate == value
    assert isinstance(rate, float)
