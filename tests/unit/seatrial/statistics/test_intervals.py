"""Intervals against scipy and statsmodels, at every edge, and their errors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
from scipy.stats import beta
from statsmodels.stats.proportion import proportion_confint

from seatrial.statistics import Interval, clopper_pearson, wilson
from seatrial.statistics.arguments import Side

Method = Callable[..., Interval]
SIZES = (1, 2, 3, 7, 10, 50, 100, 1_000, 10_000, 1_000_000)
CONFIDENCES = (0.5, 0.8, 0.95, 0.99, 1 - 1e-9)
GRID = [
    (successes, n, confidence)
    for n in SIZES
    for successes in sorted({0, 1, 2, n // 3, n // 2, n - 2, n - 1, n} & set(range(n + 1)))
    for confidence in CONFIDENCES
]


def test_clopper_pearson_agrees_with_beta_quantiles_of_scipy() -> None:
    for successes, n, confidence in GRID:
        tail = (1 - confidence) / 2
        interval = clopper_pearson(successes, n, confidence=confidence)
        low = beta.ppf(tail, successes, n - successes + 1) if successes else 0.0
        high = beta.isf(tail, successes + 1, n - successes) if successes < n else 1.0
        assert interval.low == pytest.approx(low, rel=1e-10, abs=0), (successes, n, confidence)
        assert interval.high == pytest.approx(high, rel=1e-10, abs=0), (successes, n, confidence)


def test_clopper_pearson_agrees_with_statsmodels() -> None:
    for successes, n, confidence in GRID:
        expected = proportion_confint(successes, n, alpha=1 - confidence, method="beta")
        interval = clopper_pearson(successes, n, confidence=confidence)
        assert (interval.low, interval.high) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_wilson_agrees_with_statsmodels() -> None:
    for successes, n, confidence in GRID:
        expected = proportion_confint(successes, n, alpha=1 - confidence, method="wilson")
        interval = wilson(successes, n, confidence=confidence)
        assert (interval.low, interval.high) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("method", [clopper_pearson, wilson])
def test_a_one_sided_limit_is_the_two_sided_one_of_twice_the_error(method: Method) -> None:
    for (successes, n), error in itertools.product([(0, 9), (4, 9), (9, 9)], (0.01, 0.05, 0.2)):
        both = method(successes, n, confidence=1 - 2 * error)
        lower = method(successes, n, confidence=1 - error, side="lower")
        upper = method(successes, n, confidence=1 - error, side="upper")
        assert lower.low == pytest.approx(both.low, rel=1e-12)
        assert lower.high == 1.0
        assert upper.high == pytest.approx(both.high, rel=1e-12)
        assert upper.low == 0.0


def test_no_failure_in_n_proves_the_nth_root_of_the_error() -> None:
    for n in SIZES:
        proved = clopper_pearson(n, n, side="lower").low
        assert proved == pytest.approx(math.exp(math.log(0.05) / n), rel=1e-14)


@pytest.mark.parametrize("method", [clopper_pearson, wilson])
def test_limits_at_no_and_at_all_successes_touch_the_ends_exactly(method: Method) -> None:
    for n in SIZES:
        none, every = method(0, n), method(n, n)
        assert none.low == 0.0
        assert every.high == 1.0
        assert 0.0 < none.high < 1.0
        assert 0.0 < every.low < 1.0


@pytest.mark.parametrize("method", [clopper_pearson, wilson])
@pytest.mark.parametrize(
    ("successes", "n", "error", "words"),
    [
        (0, 0, ValueError, r"n=0: expected a whole number >= 1"),
        (-1, 3, ValueError, r"successes=-1: expected a whole number >= 0"),
        (4, 3, ValueError, r"successes=4: expected at most n=3"),
        (1.0, 3, TypeError, r"successes=1\.0: expected a whole number"),
        (True, 3, TypeError, r"successes=True: expected a whole number, not a bool"),
        (1, "3", TypeError, r"n='3': expected a whole number"),
    ],
)
def test_counts_that_are_none_are_refused(
    method: Method, successes: Any, n: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        method(successes, n)


@pytest.mark.parametrize("method", [clopper_pearson, wilson])
@pytest.mark.parametrize("confidence", [0, 1, 95, -0.1, math.nan, math.inf])
def test_a_confidence_outside_0_to_1_is_refused(method: Method, confidence: float) -> None:
    with pytest.raises(ValueError, match=r"confidence=.*strictly between 0 and 1"):
        method(1, 2, confidence=confidence)


@pytest.mark.parametrize("confidence", [None, True, "0.95", [0.95]])
def test_a_confidence_that_is_no_number_is_a_type_error(confidence: Any) -> None:
    with pytest.raises(TypeError, match="confidence="):
        clopper_pearson(1, 2, confidence=confidence)


def test_an_unknown_side_is_refused() -> None:
    side: Side = "both"  # type: ignore[assignment]
    with pytest.raises(ValueError, match=r"side='both': expected one of 'two-sided', 'lower'"):
        wilson(1, 2, side=side)


def test_an_interval_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValueError, match=r"from 0\.6 to 0\.4"):
        Interval(0.6, 0.4)
    with pytest.raises(ValueError, match="from nan"):
        Interval(math.nan, 0.4)


def test_an_interval_knows_what_it_holds() -> None:
    interval = Interval(0.25, 0.75)
    assert 0.25 in interval
    assert 0.75 in interval
    assert 0.8 not in interval
    assert interval.width == 0.5
