"""Power against its definition, counted over all outcomes, and numbers of trials that reach it."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import binom, fisher_exact
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_effectsize

from seatrial.statistics import (
    Alternative,
    clopper_pearson,
    detectable_drop,
    fisher,
    most_successes_below,
    power_to_prove,
    successes_to_prove,
    trials_per_group,
    trials_to_prove,
    two_sample_power,
)

RATES = [(0.5, 0.5), (0.9, 0.3), (1.0, 0.2), (0.0, 1.0), (0.2, 0.8)]


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 9), (13, 8)])
def test_two_sample_power_adds_up_all_outcomes_that_scipy_finds_significant(
    n: int, m: int, alternative: Alternative
) -> None:
    p_values = {
        (a, b): fisher_exact([[a, n - a], [b, m - b]], alternative)[1]
        for a in range(n + 1)
        for b in range(m + 1)
    }
    for rate, other in RATES:
        for alpha in (0.05, 0.3, 0.7):
            expected = sum(
                binom.pmf(a, n, rate) * binom.pmf(b, m, other)
                for (a, b), p_value in p_values.items()
                if p_value <= alpha
            )
            found = two_sample_power(rate, n, other, m, alpha=alpha, alternative=alternative)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), (rate, other, alpha)


def test_two_sample_power_at_a_level_beyond_one_half_counts_what_lies_below_the_mode() -> None:
    n, m, alpha = 25, 30, 0.9
    expected = sum(
        binom.pmf(a, n, 0.6) * binom.pmf(b, m, 0.5)
        for a in range(n + 1)
        for b in range(m + 1)
        if fisher(a, n, b, m, alternative="greater") <= alpha
    )
    found = two_sample_power(0.6, n, 0.5, m, alpha=alpha, alternative="greater")
    assert found == pytest.approx(expected, rel=1e-9)


def test_two_sample_power_nears_the_normal_approximation_where_there_is_much_data() -> None:
    for rate, other, n in ((0.9, 0.88, 4_000), (0.5, 0.53, 4_000), (0.97, 0.955, 3_000)):
        expected = NormalIndPower().power(proportion_effectsize(rate, other), n, 0.05)
        assert two_sample_power(rate, n, other, n) == pytest.approx(expected, abs=0.02)


def test_power_stays_below_the_level_without_a_difference() -> None:
    for rate in (0.02, 0.5, 0.9):
        assert two_sample_power(rate, 40, rate, 30, alpha=0.05) <= 0.05
        assert two_sample_power(rate, 40, rate, 30, alpha=0.05, alternative="less") <= 0.05


@pytest.mark.parametrize("n", [1, 2, 28, 29, 59, 100, 10_000])
@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_proof_begins_where_the_exact_limit_reaches_the_threshold(
    n: int, threshold: float, confidence: float
) -> None:
    fewest = successes_to_prove(n, threshold, confidence=confidence)
    most = most_successes_below(n, threshold, confidence=confidence)
    assert -1 <= most < fewest <= n + 1

    def low(successes: int) -> float:
        return clopper_pearson(successes, n, confidence=confidence, side="lower").low

    def high(successes: int) -> float:
        return clopper_pearson(successes, n, confidence=confidence, side="upper").high

    assert fewest == n + 1 or low(fewest) >= threshold
    assert low(fewest - 1) < threshold
    assert most == -1 or high(most) <= threshold
    assert high(most + 1) > threshold


def test_known_numbers_of_flawless_trials_prove_known_thresholds() -> None:
    # 0.9 ** 29 < 0.05 < 0.9 ** 28, and 0.95 ** 59 < 0.05 < 0.95 ** 58.
    assert trials_to_prove(0.9, 1.0) == 29
    assert trials_to_prove(0.95, 1.0) == 59
    assert successes_to_prove(28, 0.9) == 29
    assert successes_to_prove(29, 0.9) == 29


def test_power_to_prove_is_the_chance_of_enough_successes() -> None:
    for n, threshold, rate in ((30, 0.8, 0.95), (100, 0.9, 0.9), (10, 0.99, 1.0), (59, 0.95, 1.0)):
        needed = successes_to_prove(n, threshold)
        assert power_to_prove(n, threshold, rate) == pytest.approx(
            binom.sf(needed - 1, n, rate), rel=1e-9, abs=1e-15
        )


@pytest.mark.parametrize(("threshold", "rate"), [(0.9, 0.95), (0.5, 0.7), (0.99, 0.999)])
def test_one_trial_less_than_needed_to_prove_is_not_enough(threshold: float, rate: float) -> None:
    for power in (0.5, 0.8, 0.95):
        n = trials_to_prove(threshold, rate, power=power)
        assert n is not None
        assert power_to_prove(n, threshold, rate) >= power > power_to_prove(n - 1, threshold, rate)


def test_one_trial_less_than_needed_to_compare_is_not_enough() -> None:
    for alternative in ("two-sided", "greater"):
        n = trials_per_group(0.95, 0.7, alternative=alternative)
        assert n is not None
        enough, fewer = (
            two_sample_power(0.95, size, 0.7, size, alternative=alternative) for size in (n, n - 1)
        )
        assert enough >= 0.8 > fewer


def test_what_no_number_of_trials_decides_is_said() -> None:
    assert trials_to_prove(0.9, 0.9000001) is None
    assert trials_per_group(0.5, 0.5001, alternative="less") is None


def test_a_detectable_drop_is_detected_and_a_smaller_one_is_not() -> None:
    for baseline, before, n in ((0.9, 100, 100), (1.0, 50, 20), (0.6, 40, 300)):
        rate = detectable_drop(baseline, before, n)
        assert rate is not None
        assert rate < baseline
        seen, unseen = (
            two_sample_power(lower, n, baseline, before, alternative="less")
            for lower in (rate, rate + 1e-4)
        )
        assert seen >= 0.8 > unseen


def test_three_trials_detect_no_drop_at_all() -> None:
    assert detectable_drop(0.9, 3, 3) is None


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: successes_to_prove(10, 1.0), ValueError, r"threshold=1\.0: .*strictly between"),
        (lambda: successes_to_prove(0, 0.9), ValueError, "n=0: expected a whole number >= 1"),
        (lambda: power_to_prove(10, 0.9, 1.5), ValueError, r"rate=1\.5: expected a rate"),
        (lambda: trials_to_prove(0.9, 0.9), ValueError, r"rate=0\.9: expected a rate above"),
        (lambda: trials_to_prove(0.9, 0.95, power=1), ValueError, "power=1: .*strictly between"),
        (lambda: two_sample_power(0.9, 20_001, 0.8, 5), ValueError, "n_1=20001: expected at most"),
        (lambda: two_sample_power(0.9, 5, 0.8, 2.5), TypeError, r"n_2=2\.5: expected a whole"),
        (lambda: two_sample_power(0.9, 5, 0.8, 5, alpha=0), ValueError, "alpha=0: "),
        (lambda: trials_per_group(0.9, 0.9), ValueError, r"rate_1=0\.9 and rate_2=0\.9: expected"),
        (
            lambda: trials_per_group(0.9, 0.8, alternative="less"),
            ValueError,
            "rates that differ as alternative='less' says",
        ),
        (
            lambda: trials_per_group(0.9, 0.8, alternative="worse"),
            ValueError,
            "alternative='worse': expected one of",
        ),
        (lambda: detectable_drop(0.9, 10, 10, power=0), ValueError, "power=0: "),
    ],
)
def test_plans_that_mean_nothing_are_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
