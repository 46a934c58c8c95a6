"""Tests of two rates against scipy and statsmodels, and what makes them exact."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from scipy.stats import binom, boschloo_exact, fisher_exact
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from seatrial.statistics import Alternative, boschloo, fisher, mcnemar
from seatrial.statistics.comparison import ALTERNATIVES

EVERY: tuple[Alternative, ...] = ("two-sided", "less", "greater")


def _small_tables(n_1: int, n_2: int) -> list[tuple[int, int, int, int]]:
    return [(a, n_1, b, n_2) for a in range(n_1 + 1) for b in range(n_2 + 1)]


@pytest.mark.parametrize("alternative", EVERY)
def test_fisher_agrees_with_scipy_on_every_small_table(alternative: Alternative) -> None:
    for a, n, b, m in (*_small_tables(1, 1), *_small_tables(5, 9), *_small_tables(8, 8)):
        _, expected = fisher_exact([[a, n - a], [b, m - b]], alternative)
        found = fisher(a, n, b, m, alternative=alternative)
        assert found == pytest.approx(expected, rel=1e-11), (a, n, b, m)


@pytest.mark.parametrize("alternative", EVERY)
def test_fisher_agrees_with_scipy_on_large_tables(alternative: Alternative) -> None:
    for table in (
        (90, 100, 75, 100),
        (0, 300, 7, 200),
        (9_000, 10_000, 8_950, 10_000),
        (10_000, 10_000, 9_996, 10_000),
        (900_000, 1_000_000, 900_500, 1_000_000),
        (3, 10_000, 9_999, 10_000),
    ):
        a, n, b, m = table
        _, expected = fisher_exact([[a, n - a], [b, m - b]], alternative)
        found = fisher(a, n, b, m, alternative=alternative)
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-280), table


@pytest.mark.parametrize("alternative", EVERY)
def test_boschloo_agrees_with_scipy(alternative: Alternative) -> None:
    tables = [*_small_tables(3, 4), (7, 10, 2, 12), (18, 20, 11, 20), (0, 15, 5, 9)]
    for a, n, b, m in (*tables, (45, 50, 36, 50)):
        expected = boschloo_exact([[a, b], [n - a, m - b]], alternative).pvalue
        found = boschloo(a, n, b, m, alternative=alternative)
        assert found == pytest.approx(expected, rel=1e-6), (a, n, b, m)


def test_boschloo_is_the_largest_chance_over_a_far_finer_grid_of_common_rates() -> None:
    for a, n, b, m in ((9, 10, 4, 11), (20, 20, 14, 17), (6, 25, 1, 24), (3, 3, 0, 29)):
        bar = fisher(a, n, b, m, alternative="greater") * (1 + 1e-9)
        region = [
            (i, j)
            for i, j in itertools.product(range(n + 1), range(m + 1))
            if fisher(i, n, j, m, alternative="greater") <= bar
        ]
        largest = 0.0
        for step in range(1, 4_000):
            rate = math.sin(math.pi / 2 * step / 4_000) ** 2
            first, second = (binom.pmf(range(size + 1), size, rate) for size in (n, m))
            largest = max(largest, math.fsum(first[i] * second[j] for i, j in region))
        found = boschloo(a, n, b, m, alternative="greater")
        assert largest <= found * (1 + 1e-12)
        assert found == pytest.approx(largest, rel=1e-4)


def test_boschloo_finds_more_than_fisher_and_is_fisher_where_there_are_very_many_trials() -> None:
    assert boschloo(9, 10, 4, 10, alternative="greater") < fisher(
        9, 10, 4, 10, alternative="greater"
    )
    many = (2_000, 2_001, 1_990, 2_001)
    for alternative in ("less", "greater"):
        assert boschloo(*many, alternative=alternative) == pytest.approx(
            fisher(*many, alternative=alternative), rel=1e-12
        )


def test_no_test_of_two_groups_rejects_oftener_than_its_level_without_a_difference() -> None:
    n, m, level = 9, 7, 0.05
    for test, alternative in itertools.product((fisher, boschloo), EVERY):
        rejected = [
            (a, b)
            for a, _, b, _ in _small_tables(n, m)
            if test(a, n, b, m, alternative=alternative) <= level
        ]
        assert rejected
        for rate in (0.01, 0.1, 0.25, 0.5, 0.62, 0.8, 0.95):
            chance = sum(binom.pmf(a, n, rate) * binom.pmf(b, m, rate) for a, b in rejected)
            assert chance <= level


def test_mcnemar_agrees_with_statsmodels() -> None:
    for first, second in ((0, 1), (5, 5), (1, 9), (30, 12), (4_000, 6_000), (499_000, 501_000)):
        expected = statsmodels_mcnemar([[3, first], [second, 8]], exact=True).pvalue
        assert mcnemar(first, second) == pytest.approx(min(1.0, expected), rel=1e-8, abs=1e-250)


def test_one_sided_mcnemar_is_a_sign_test_on_the_pairs_that_differ() -> None:
    assert mcnemar(1, 6, alternative="less") == pytest.approx(8 / 2**7)
    assert mcnemar(6, 1, alternative="greater") == pytest.approx(8 / 2**7)
    assert mcnemar(6, 1, alternative="less") == pytest.approx(1 - 1 / 2**7)


def test_pairs_that_never_differ_show_nothing() -> None:
    assert [mcnemar(0, 0, alternative=alternative) for alternative in EVERY] == [1.0] * 3


@pytest.mark.parametrize("test", [fisher, boschloo])
@pytest.mark.parametrize(
    ("counts", "error", "words"),
    [
        ((4, 3, 1, 2), ValueError, "successes=4: expected at most n=3"),
        ((0, 3, 0, 0), ValueError, "n=0: expected a whole number >= 1"),
        ((0.5, 3, 0, 1), TypeError, r"successes=0\.5: expected a whole number"),
    ],
)
def test_counts_that_are_none_are_refused(
    test: Any, counts: tuple[Any, ...], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        test(*counts)


def test_an_unknown_alternative_is_refused_by_each() -> None:
    wrong: Any = "worse"
    for call in (
        lambda: fisher(1, 2, 1, 2, alternative=wrong),
        lambda: boschloo(1, 2, 1, 2, alternative=wrong),
        lambda: mcnemar(1, 2, alternative=wrong),
    ):
        with pytest.raises(ValueError, match="alternative='worse': expected one of 'two-sided'"):
            call()
    assert ALTERNATIVES == EVERY
