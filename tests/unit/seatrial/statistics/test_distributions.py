"""Beta and binomial distributions against scipy, in the far tails too."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy import special
from scipy.stats import beta, binom, norm

from seatrial.statistics.distributions import (
    beta_quantile,
    beta_tails,
    binomial_at_least,
    binomial_at_most,
    binomial_pmf,
    binomial_probabilities,
    log_beta_tails,
    log_binomial_pmf,
    normal_tail_quantile,
)

SHAPES = [1.0, 1.5, 2.0, 7.0, 40.5, 300.0, 10_000.0, 1_000_000.0]
TAILS = [1e-12, 1e-4, 0.025, 0.5, 0.9, 1 - 1e-9]


def test_normal_quantiles_agree_with_scipy() -> None:
    for tail in TAILS:
        assert normal_tail_quantile(tail) == pytest.approx(norm.isf(tail), rel=1e-12, abs=1e-15)


def test_beta_tails_agree_with_scipy_wherever_it_does_not_underflow() -> None:
    for a in [0.5, *SHAPES]:
        for b in [0.5, *SHAPES]:
            mean, spread = a / (a + b), math.sqrt(a * b / (a + b + 1)) / (a + b)
            for x in (mean, mean - spread, mean + 3 * spread, mean - 7 * spread, 1e-9, 0.999):
                if not 0 < x < 1:
                    continue
                expected = special.betainc(a, b, x), special.betaincc(a, b, x)
                found = beta_tails(a, b, x)
                for ours, theirs in zip(found, expected, strict=True):
                    if theirs > 1e-250:
                        assert ours == pytest.approx(theirs, rel=1e-8), (a, b, x)


def test_beta_tails_at_the_ends_are_exact() -> None:
    assert beta_tails(3, 4, 0.0) == (0.0, 1.0)
    assert beta_tails(3, 4, 1.0) == (1.0, 0.0)


def test_logarithms_of_beta_tails_do_not_underflow() -> None:
    below, above = log_beta_tails(5_000.0, 5_000.0, 0.01)
    assert below == pytest.approx(beta.logcdf(0.01, 5_000, 5_000), rel=1e-9) or below < -10_000
    assert above == pytest.approx(0.0, abs=1e-300)
    # P(X <= x) = x ** a for b = 1.
    assert log_beta_tails(1_000.0, 1.0, 0.01)[0] == pytest.approx(1_000 * math.log(0.01))


def test_beta_quantiles_agree_with_scipy_in_both_tails() -> None:
    for a in SHAPES:
        for b in SHAPES:
            # Closer to 1 a double does not tell the tail well enough.
            for tail in (1e-12, 1e-4, 0.025, 0.5, 0.9, 0.999):
                lower = beta.ppf(tail, a, b)
                assert beta_quantile(a, b, tail) == pytest.approx(lower, rel=1e-9), (a, b, tail)
                upper = beta.isf(tail, a, b)
                assert beta_quantile(a, b, tail, upper=True) == pytest.approx(upper, rel=1e-9), (
                    a,
                    b,
                    tail,
                )


@pytest.mark.parametrize(
    ("a", "b", "tail", "upper"),
    [
        # 1 - x is smaller than a double next to 1 can tell.
        (75_732.0, 1.0625, 1e-9, True),
        # The tangent at the first guess leads out of what has an exponential.
        (1.0005341614156664, 23.322910884282415, 0.9999985935384943, False),
        (1363.0067400466032, 1.000680308474715, 0.9999996003360248, True),
        # The guess itself does.
        (1_000_000.0, 1.5, 1e-300, True),
    ],
)
def test_beta_quantiles_where_newton_could_lose_its_way(
    a: float, b: float, tail: float, upper: bool
) -> None:
    expected = (special.betainccinv if upper else special.betaincinv)(a, b, tail)
    assert beta_quantile(a, b, tail, upper=upper) == pytest.approx(expected, rel=1e-7)


def test_binomial_probabilities_are_exact_to_the_last_digits() -> None:
    for k, n in ((1, 2), (15, 31), (16, 32), (17, 40), (100, 333), (2_000, 5_000)):
        exact = Fraction(math.comb(n, k), 2**n)
        assert binomial_pmf(k, n, 0.5) == pytest.approx(float(exact), rel=2e-13, abs=0)


@pytest.mark.parametrize("n", [0, 1, 2, 13, 200, 10_000, 1_000_000])
def test_binomial_probabilities_agree_with_scipy(n: int) -> None:
    for rate in (0.0, 1e-6, 0.1, 0.5, 0.97, 1.0):
        centre = round(n * rate)
        for k in {-1, 0, 1, centre - 3, centre, centre + 20, n - 1, n, n + 1}:
            expected = binom.pmf(k, n, rate), binom.cdf(k, n, rate), binom.sf(k - 1, n, rate)
            found = (
                binomial_pmf(k, n, rate),
                binomial_at_most(k, n, rate),
                binomial_at_least(k, n, rate),
            )
            assert found == pytest.approx(expected, rel=1e-8, abs=1e-200), (k, n, rate)


def test_logarithms_of_binomial_probabilities_do_not_underflow() -> None:
    assert log_binomial_pmf(0, 1_000_000, 0.5) == pytest.approx(-1_000_000 * math.log(2))
    assert log_binomial_pmf(20, 10_000, 0.5) == pytest.approx(
        math.log(math.comb(10_000, 20)) - 10_000 * math.log(2), rel=1e-13
    )
    assert log_binomial_pmf(3, 2, 0.5) == -math.inf


@pytest.mark.parametrize("rate", [1e-17, 1e-100, 1e-300, 2.3e-308])
def test_rates_next_to_nothing_are_no_trap(rate: float) -> None:
    # C(3, 1) rate (1 - rate) ** 2, and the same as a tail; the next term is far below.
    assert log_binomial_pmf(1, 3, rate) == pytest.approx(math.log(3) + math.log(rate), rel=1e-13)
    assert binomial_at_least(1, 3, rate) == pytest.approx(3 * rate, rel=1e-11, abs=0)
    assert binomial_at_most(0, 3, rate) == 1.0


@pytest.mark.parametrize("n", [1, 2, 30, 500])
@pytest.mark.parametrize("rate", [0.001, 0.3, 0.9999])
def test_all_binomial_probabilities_at_once_are_those_one_by_one(n: int, rate: float) -> None:
    values = binomial_probabilities(n, rate)
    assert values == pytest.approx([binomial_pmf(k, n, rate) for k in range(n + 1)], rel=1e-9)
    assert math.fsum(values) == pytest.approx(1.0, rel=1e-12)


def test_negligible_probabilities_are_left_out_on_both_sides() -> None:
    full = binomial_probabilities(100, 0.5)
    cut = binomial_probabilities(100, 0.5, 1e-6)
    assert cut == [value if value > 1e-6 else 0.0 for value in full]
    assert cut[0] == cut[100] == 0.0 < cut[50]
