"""Cohen's kappa against statsmodels, and its interval's coverage counted out."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from scipy.stats import multinomial
from statsmodels.stats.inter_rater import cohens_kappa

from seatrial.statistics import Kappa, cohen_kappa

TABLES = (
    [[20, 5], [10, 15]],
    [[1, 0], [0, 1]],
    [[0, 3], [4, 0]],
    [[45, 15], [25, 15]],
    [[9_900, 40], [30, 30]],
    [[500_000, 1], [2, 499_997]],
    [[10, 2, 1], [3, 12, 0], [0, 1, 9]],
    [[5, 1, 0, 0], [0, 7, 2, 0], [0, 0, 3, 1], [1, 0, 0, 4]],
)


@pytest.mark.parametrize("table", TABLES)
def test_kappa_and_its_standard_error_agree_with_statsmodels(table: list[list[int]]) -> None:
    kappa = cohen_kappa(table)
    expected = cohens_kappa(table)
    assert kappa.value == pytest.approx(expected.kappa, rel=1e-9, abs=1e-12)
    assert kappa.standard_error == pytest.approx(expected.std_kappa, rel=1e-6, abs=1e-8)
    assert kappa.value in kappa.interval
    assert -1.0 <= kappa.interval.low <= kappa.interval.high <= 1.0


def test_the_interval_is_the_usual_one_where_there_is_much_data() -> None:
    kappa = cohen_kappa([[40_000, 9_000], [12_000, 39_000]])
    expected = cohens_kappa([[40_000, 9_000], [12_000, 39_000]])
    assert kappa.interval.low == pytest.approx(expected.kappa_low, abs=1e-4)
    assert kappa.interval.high == pytest.approx(expected.kappa_upp, abs=1e-4)


def test_full_agreement_on_little_data_is_not_certainty() -> None:
    kappa = cohen_kappa([[3, 0], [0, 2]])
    assert (kappa.value, kappa.standard_error, kappa.agreement) == (1.0, 0.0, 1.0)
    assert kappa.interval.high == 1.0
    assert kappa.interval.low < 0.5
    assert cohen_kappa([[300, 0], [0, 200]]).interval.low > 0.95


def _coverage(n: int, true_kappa: float, share: float) -> float:
    """The chance that the interval holds the truth, over all tables of n items that have a kappa."""
    apart = share * (1 - share) * (1 - true_kappa)
    cells = multinomial(n, [share - apart, apart, apart, 1 - share - apart])
    holding = all_tables = 0.0
    for a, b, c in itertools.product(range(n + 1), repeat=3):
        d = n - a - b - c
        if d < 0 or n in (a, d):
            continue
        chance = math.exp(cells.logpmf([a, b, c, d]))
        all_tables += chance
        if chance > 1e-7:
            holding += chance * (true_kappa in cohen_kappa([[a, b], [c, d]]).interval)
    return holding / all_tables


@pytest.mark.parametrize("true_kappa", [0.0, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_interval_holds_the_truth_nine_times_in_ten_at_ten_items(
    true_kappa: float, share: float
) -> None:
    assert _coverage(10, true_kappa, share) >= 0.9


@pytest.mark.parametrize(
    ("table", "error", "words"),
    [
        ([[3, 0], [0, 0]], ValueError, "undefined: both raters put every item into the same"),
        ([[0, 0], [0, 0]], ValueError, "without a single item"),
        ([], ValueError, r"rows of \[\] cells"),
        ([[1]], ValueError, r"rows of \[1\] cells"),
        ([[1, 2], [3]], ValueError, r"rows of \[2, 1\] cells"),
        ([[1, 2], [3, -1]], ValueError, r"table\[1\]\[1\]=-1: expected a whole number >= 0"),
        ([[1, 2.5], [3, 1]], TypeError, r"table\[0\]\[1\]=2\.5: expected a whole number"),
    ],
)
def test_a_table_that_says_nothing_is_refused(
    table: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        cohen_kappa(table)


def test_raters_who_each_use_one_category_but_not_the_same_agree_no_better_than_chance() -> None:
    kappa = cohen_kappa([[0, 7], [0, 0]])
    assert isinstance(kappa, Kappa)
    assert kappa.value == 0.0
    assert kappa.interval.low < 0.0 < kappa.interval.high
