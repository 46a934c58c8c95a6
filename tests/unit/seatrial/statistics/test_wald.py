"""Wald's test: its ratio, and its errors by exact sums over all paths."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import binom

from seatrial.statistics import WaldTest, sequential_rule, successes_to_prove

TESTS = [
    WaldTest(good_rate=0.95, bad_rate=0.85),
    WaldTest(good_rate=0.6, bad_rate=0.4, alpha=0.01, beta=0.2),
    WaldTest(good_rate=0.999, bad_rate=0.9, alpha=0.1, beta=0.01),
]


@pytest.mark.parametrize("test", TESTS)
def test_the_ratio_is_that_of_two_binomial_probabilities(test: WaldTest) -> None:
    for successes, n in ((0, 0), (0, 1), (1, 1), (7, 9), (95, 100), (10_000, 10_000)):
        expected = binom.logpmf(successes, n, test.good_rate) - binom.logpmf(
            successes, n, test.bad_rate
        )
        assert test.log_likelihood_ratio(successes, n) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("limit", [1, 50, 200])
def test_neither_error_exceeds_what_is_stated_wherever_the_test_is_cut_off(
    test: WaldTest, limit: int
) -> None:
    rule = test.rule(limit)
    for rate in (test.good_rate, (1 + test.good_rate) / 2, 1.0):
        assert rule.outcome(rate).bad <= test.alpha
    for rate in (0.0, test.bad_rate / 2, test.bad_rate):
        assert rule.outcome(rate).good <= test.beta


def test_it_takes_fewer_trials_than_a_fixed_number_of_the_same_errors_would() -> None:
    test = WaldTest(good_rate=0.95, bad_rate=0.85)
    # The fewest trials with which one limit on the successes keeps both errors.
    fixed = next(
        n for n in range(1, 1_000) if binom.cdf(successes_to_prove(n, 0.85) - 1, n, 0.95) <= 0.05
    )
    for rate in (0.95, 0.85):
        assert test.rule(1_000).outcome(rate).expected_trials < 0.65 * fixed


def test_it_decides_sooner_than_a_test_that_knows_only_the_threshold() -> None:
    wald = WaldTest(good_rate=0.95, bad_rate=0.85).rule(1_000).outcome(0.95)
    assert wald.good >= 0.95
    assert wald.expected_trials < sequential_rule(0.85, 1_000).outcome(0.95).expected_trials


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"good_rate": 0.8, "bad_rate": 0.8}, ValueError, r"bad_rate=0\.8: expected a rate below"),
        ({"good_rate": 1.0, "bad_rate": 0.8}, ValueError, r"good_rate=1\.0: .*strictly between"),
        ({"good_rate": 0.9, "bad_rate": 0.8, "alpha": 0}, ValueError, "alpha=0: "),
        ({"good_rate": 0.9, "bad_rate": 0.8, "beta": "5%"}, TypeError, "beta='5%': "),
    ],
)
def test_hypotheses_that_cannot_be_told_apart_are_refused(
    arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        WaldTest(**arguments)


def test_a_limit_without_a_trial_is_refused() -> None:
    with pytest.raises(ValueError, match="limit=0: expected a whole number >= 1"):
        TESTS[0].rule(0)
