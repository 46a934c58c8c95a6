"""Sequential evidence: against its integrals, and its errors by exact sums over all paths."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.integrate import quad
from scipy.special import betainc, betaln

from seatrial.statistics import (
    Alternative,
    StoppingRule,
    clopper_pearson,
    confidence_sequence,
    log_e_value,
    sequential_rule,
)

EVERY: tuple[Alternative, ...] = ("two-sided", "less", "greater")
ENDS = {"two-sided": (0.0, 1.0), "less": (0.0, None), "greater": (None, 1.0)}


@pytest.mark.parametrize("alternative", EVERY)
def test_the_evidence_is_the_likelihood_averaged_over_the_alternative(
    alternative: Alternative,
) -> None:
    for successes, n in ((0, 0), (0, 5), (3, 5), (5, 5), (17, 30)):
        for rate in (0.05, 0.5, 0.8, 0.97):
            low, high = (rate if end is None else end for end in ENDS[alternative])

            def likelihood(other: float, k: int = successes, total: int = n) -> float:
                return other**k * (1 - other) ** (total - k)

            average = quad(likelihood, low, high, epsabs=0, epsrel=1e-11)[0] / (high - low)
            found = log_e_value(successes, n, rate, alternative=alternative)
            assert found == pytest.approx(math.log(average / likelihood(rate)), abs=1e-9)


def test_large_numbers_keep_their_digits_and_do_not_overflow() -> None:
    for successes, n, rate in ((9_000, 10_000, 0.9), (9_990, 10_000, 0.5), (10_000, 10_000, 0.9)):
        failures = n - successes
        likelihood = successes * math.log(rate) + failures * math.log(1 - rate)
        mixture = betaln(successes + 1, failures + 1)
        found = log_e_value(successes, n, rate, alternative="two-sided")
        assert found == pytest.approx(mixture - likelihood, rel=1e-9, abs=1e-7)
        above = math.log(1 - betainc(successes + 1, failures + 1, rate)) - math.log(1 - rate)
        found = log_e_value(successes, n, rate, alternative="greater")
        assert found == pytest.approx(mixture - likelihood + above, rel=1e-9, abs=1e-7)
    assert log_e_value(1_000_000, 1_000_000, 0.5, alternative="greater") > 690_000


def test_evidence_before_the_first_trial_is_none() -> None:
    for alternative in EVERY:
        assert log_e_value(0, 0, 0.3, alternative=alternative) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("alternative", EVERY)
@pytest.mark.parametrize("rate", [0.02, 0.5, 0.9])
def test_one_more_trial_raises_the_evidence_on_average_for_no_rate_of_the_hypothesis(
    alternative: Alternative, rate: float
) -> None:
    true_rates = {"two-sided": [rate], "greater": [0.0, rate / 2, rate], "less": [rate, 0.95, 1.0]}
    for n in (0, 1, 7, 40):
        for successes in range(n + 1):
            now = log_e_value(successes, n, rate, alternative=alternative)
            failed = log_e_value(successes, n + 1, rate, alternative=alternative)
            passed = log_e_value(successes + 1, n + 1, rate, alternative=alternative)
            for true in true_rates[alternative]:
                mean = true * math.exp(passed - now) + (1 - true) * math.exp(failed - now)
                assert mean <= 1 + 1e-9


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8, 0.9, 0.99])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_rule_errs_no_oftener_than_it_says_over_200_trials(
    threshold: float, confidence: float
) -> None:
    rule = sequential_rule(threshold, 200, confidence=confidence)
    for rate in (0.0, threshold / 2, threshold - 0.01, threshold):
        assert rule.outcome(rate).good <= 1 - confidence
    for rate in (threshold, threshold + 0.01 * (1 - threshold), (1 + threshold) / 2, 1.0):
        assert rule.outcome(rate).bad <= 1 - confidence


def test_the_rule_decides_what_is_clear_and_saves_most_trials() -> None:
    rule = sequential_rule(0.9, 200)
    clear, hopeless = rule.outcome(0.999), rule.outcome(0.5)
    assert clear.good > 0.999
    assert clear.expected_trials < 50
    assert hopeless.bad > 0.999
    assert hopeless.expected_trials < 10


def test_the_rule_decides_exactly_where_the_evidence_reaches_the_bar() -> None:
    for threshold in (0.3, 0.9):
        rule, bar = sequential_rule(threshold, 60), math.log(20)
        for n in range(61):
            for successes in range(n + 1):
                good = log_e_value(successes, n, threshold, alternative="greater") >= bar
                bad = log_e_value(successes, n, threshold, alternative="less") >= bar
                expected = "good" if good else "bad" if bad else None
                assert rule.decision(successes, n - successes) == expected


def _chance_of_ever_missing(rate: float, limit: int, confidence: float) -> float:
    """The probability that the rate is outside the interval after some trial up to the limit."""
    bar = -math.log(1 - confidence)
    least_good, most_bad = [], []
    for n in range(limit + 1):
        inside = [k for k in range(n + 1) if log_e_value(k, n, rate, alternative="two-sided") < bar]
        least_good.append(inside[-1] + 1)
        most_bad.append(inside[0] - 1)
    outcome = StoppingRule(tuple(least_good), tuple(most_bad)).outcome(rate)
    return outcome.good + outcome.bad


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9, 0.97])
def test_all_intervals_of_a_sequence_hold_the_truth_together(rate: float) -> None:
    for confidence in (0.8, 0.95):
        missing = _chance_of_ever_missing(rate, 200, confidence)
        assert 0.0 < missing <= 1 - confidence


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_a_sequence_ends_where_the_evidence_reaches_its_bar(confidence: float) -> None:
    bar = -math.log(1 - confidence)
    for successes, n in ((1, 1), (3, 10), (90, 100), (10_000, 10_000), (999_000, 1_000_000)):
        both = confidence_sequence(successes, n, confidence=confidence)
        lower = confidence_sequence(successes, n, confidence=confidence, side="lower")
        upper = confidence_sequence(successes, n, confidence=confidence, side="upper")
        assert (lower.high, upper.low) == (1.0, 0.0)
        for limit, alternative in (
            (both.low, "two-sided"),
            (both.high, "two-sided"),
            (lower.low, "greater"),
            (upper.high, "less"),
        ):
            if 0.0 < limit < 1.0:
                found = log_e_value(successes, n, limit, alternative=alternative)  # type: ignore[arg-type]
                assert found == pytest.approx(bar, abs=1e-6)


def test_a_sequence_is_wider_than_the_interval_of_a_fixed_number_of_trials() -> None:
    for successes, n in ((0, 10), (7, 10), (50, 100), (9_500, 10_000)):
        always, once = confidence_sequence(successes, n), clopper_pearson(successes, n)
        assert always.low <= once.low
        assert always.high >= once.high
        assert always.width > once.width


def test_a_sequence_starts_from_ignorance_and_keeps_the_ends_it_touches() -> None:
    for side in ("two-sided", "lower", "upper"):
        start = confidence_sequence(0, 0, side=side)
        assert (start.low, start.high) == (0.0, 1.0)
    assert confidence_sequence(0, 50).low == 0.0
    assert confidence_sequence(50, 50).high == 1.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: log_e_value(1, 2, 1.0, alternative="less"), ValueError, r"rate=1\.0: .*strictly"),
        (lambda: log_e_value(3, 2, 0.5, alternative="less"), ValueError, "at most n=2"),
        (lambda: log_e_value(1, 2, 0.5, alternative="more"), ValueError, "alternative='more'"),
        (lambda: confidence_sequence(1, 2, confidence=1), ValueError, "confidence=1: "),
        (lambda: confidence_sequence(1, 2, side="left"), ValueError, "side='left'"),
        (lambda: confidence_sequence(1, "2"), TypeError, "n='2'"),
        (lambda: sequential_rule(1.0, 10), ValueError, r"threshold=1\.0: .*strictly between"),
        (lambda: sequential_rule(0.9, 0), ValueError, "limit=0: expected a whole number >= 1"),
    ],
)
def test_evidence_about_nothing_is_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
