from __future__ import annotations

import math
import random
import statistics

import pytest
from benchmarks.sample import Sample
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)


def test_a_sample_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        Sample(())


def test_the_median_is_the_middle_value_in_whatever_order_they_came() -> None:
    assert Sample((3.0, 1.0, 2.0)).median == 2.0


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7])
def test_of_few_values_the_interval_is_all_of_them(count: int) -> None:
    sample = Sample.of(float(value) for value in range(count))
    assert (sample.low, sample.high) == (0, count - 1)


# The interval's depth for a sign test at 5% on one side, as printed in tables of the sign test:
# the critical value is one less than the rank from 1.
@pytest.mark.parametrize(
    ("count", "depth"), [(8, 1), (10, 1), (11, 2), (13, 3), (15, 3), (20, 5), (25, 7)]
)
def test_of_more_values_the_outermost_are_left_out(count: int, depth: int) -> None:
    sample = Sample.of(float(value) for value in range(count))
    assert (sample.low, sample.high) == (depth, count - 1 - depth)


@pytest.mark.parametrize("count", range(5, 41))
def test_the_lower_end_is_the_highest_value_that_95_percent_allow(count: int) -> None:
    depth = int(Sample.of(float(value) for value in range(count)).low)
    assert binom.cdf(depth, count, 0.5) <= 0.05 < binom.cdf(depth + 1, count, 0.5)


def test_the_lower_end_exceeds_the_true_median_about_as_seldom_as_it_says() -> None:
    chance = random.Random(3)
    exceeded = sum(
        Sample.of(chance.lognormvariate(0, 0.5) for _ in range(15)).low > 1 for _ in range(4_000)
    )
    assert exceeded / 4_000 == pytest.approx(binom.cdf(3, 15, 0.5), abs=0.01)


@given(values)
def test_the_interval_holds_the_median(given_values: list[float]) -> None:
    sample = Sample.of(given_values)
    assert sample.low <= sample.median <= sample.high
    assert sample.median == statistics.median(given_values)


@given(values)
def test_mirrored_values_have_the_mirrored_interval(given_values: list[float]) -> None:
    sample = Sample.of(given_values)
    mirrored = Sample.of(-value for value in given_values)
    assert math.isclose(mirrored.low, -sample.high)
    assert math.isclose(mirrored.high, -sample.low)
