"""pass@k and pass^k by counting choices, and what makes them unbiased."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb
from typing import Any

import pytest
from scipy.stats import binom

from seatrial.statistics import pass_at_k, pass_hat_k

CASES = [
    (successes, n, k) for n in range(1, 13) for successes in range(n + 1) for k in range(1, n + 1)
]


def test_both_are_shares_of_all_choices_of_k_trials() -> None:
    for successes, n, k in CASES:
        trials = [place < successes for place in range(n)]
        if n <= 7:
            choices = list(itertools.combinations(trials, k))
            some = sum(map(any, choices)) / len(choices)
            every = sum(map(all, choices)) / len(choices)
        else:
            some = 1 - comb(n - successes, k) / comb(n, k)
            every = comb(successes, k) / comb(n, k)
        assert pass_at_k(successes, n, k) == pytest.approx(some, abs=1e-14)
        assert pass_hat_k(successes, n, k) == pytest.approx(every, abs=1e-14)


@pytest.mark.parametrize("n", [5, 30])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.93])
def test_on_average_over_all_samples_they_give_the_true_chance(n: int, rate: float) -> None:
    for k in (1, 2, 5):
        some = every = 0.0
        for successes in range(n + 1):
            chance = binom.pmf(successes, n, rate)
            some += chance * pass_at_k(successes, n, k)
            every += chance * pass_hat_k(successes, n, k)
        assert some == pytest.approx(1 - (1 - rate) ** k, rel=1e-12)
        assert every == pytest.approx(rate**k, rel=1e-12)


def test_edges_are_exact() -> None:
    for n in (1, 2, 50, 10_000):
        for k in {1, n // 2 + 1, n}:
            assert (pass_at_k(0, n, k), pass_hat_k(0, n, k)) == (0.0, 0.0)
            assert (pass_at_k(n, n, k), pass_hat_k(n, n, k)) == (1.0, 1.0)
        assert pass_at_k(1, n, n) == 1.0


def test_large_numbers_keep_their_digits() -> None:
    for successes, n, k in ((9_990, 10_000, 700), (3, 10_000, 9_000), (5_000, 10_000, 12)):
        every = Fraction(comb(successes, k), comb(n, k))
        some = 1 - Fraction(comb(n - successes, k), comb(n, k))
        assert pass_hat_k(successes, n, k) == pytest.approx(float(every), rel=1e-11, abs=0)
        assert pass_at_k(successes, n, k) == pytest.approx(float(some), rel=1e-11, abs=0)
    assert pass_at_k(1, 1_000_000, 400_000) == pytest.approx(0.4)
    assert pass_hat_k(999_999, 1_000_000, 400_000) == pytest.approx(0.6)


@pytest.mark.parametrize("function", [pass_at_k, pass_hat_k])
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((1, 3, 4), ValueError, "k=4: expected at most n=3"),
        ((1, 3, 0), ValueError, "k=0: expected a whole number >= 1"),
        ((4, 3, 1), ValueError, "successes=4: expected at most n=3"),
        ((1, 3, 1.5), TypeError, r"k=1\.5: expected a whole number"),
    ],
)
def test_choices_that_cannot_be_made_are_refused(
    function: Any, arguments: tuple[Any, ...], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        function(*arguments)
