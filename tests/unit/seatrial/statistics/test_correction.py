"""Rates corrected for a judge's errors: the estimate, and its interval's coverage counted out."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import binom

from seatrial.statistics import JudgeErrors, rogan_gladen
from seatrial.statistics.arguments import Side

GOOD = JudgeErrors(true_positive=18, false_negative=2, false_positive=4, true_negative=16)
BLIND = JudgeErrors(true_positive=5, false_negative=5, false_positive=5, true_negative=5)


def _perfect(each: int) -> JudgeErrors:
    return JudgeErrors(true_positive=each, false_negative=0, false_positive=0, true_negative=each)


def test_sensitivity_and_specificity_are_shares_of_the_truly_positive_and_negative() -> None:
    assert (GOOD.positives, GOOD.negatives) == (20, 20)
    assert (GOOD.sensitivity, GOOD.specificity) == (0.9, 0.8)


def test_the_correction_undoes_what_the_judge_does_to_a_rate() -> None:
    for true_rate in (0.0, 0.25, 0.5, 1.0):
        shown = true_rate * 0.9 + (1 - true_rate) * 0.2
        corrected = rogan_gladen(round(shown * 10_000), 10_000, GOOD)
        assert corrected.value == pytest.approx(true_rate, abs=1e-12)
        assert corrected.value in corrected.interval


def test_a_rate_that_errors_alone_explain_is_cut_off_at_the_ends() -> None:
    none, every = rogan_gladen(0, 50, GOOD), rogan_gladen(50, 50, GOOD)
    assert (none.value, none.interval.low) == (0.0, 0.0)
    assert (every.value, every.interval.high) == (1.0, 1.0)
    assert none.interval.high > 0.0
    assert every.interval.low < 1.0


def test_a_judge_known_to_be_nearly_perfect_changes_nothing() -> None:
    corrected = rogan_gladen(90, 100, _perfect(1_000_000))
    assert corrected.value == pytest.approx(0.9)
    # Agresti and Coull's interval of 90 in 100.
    assert corrected.interval.low == pytest.approx(0.8240, abs=5e-4)
    assert corrected.interval.high == pytest.approx(0.9464, abs=5e-4)


def test_fewer_known_items_make_a_wider_interval() -> None:
    widths = [rogan_gladen(80, 100, _perfect(each)).interval.width for each in (5, 20, 100, 5_000)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 2 * widths[-1]


def test_one_sided_limits_leave_the_other_end_open() -> None:
    both = rogan_gladen(60, 100, GOOD, confidence=0.9).interval
    lower = rogan_gladen(60, 100, GOOD, confidence=0.95, side="lower").interval
    upper = rogan_gladen(60, 100, GOOD, confidence=0.95, side="upper").interval
    assert (lower.low, lower.high) == (pytest.approx(both.low), 1.0)
    assert (upper.low, upper.high) == (0.0, pytest.approx(both.high))


def test_items_too_few_to_tell_the_judge_from_a_coin_leave_everything_open() -> None:
    lucky = JudgeErrors(true_positive=1, false_negative=0, false_positive=80, true_negative=20)
    interval = rogan_gladen(5, 10, lucky).interval
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_a_judge_no_better_than_a_coin_is_refused() -> None:
    with pytest.raises(ValueError, match=r"sensitivity 0\.5 and specificity 0\.5: expected a sum"):
        rogan_gladen(5, 10, BLIND)


@pytest.mark.parametrize(
    ("numbers", "error", "words"),
    [
        ((-1, 2, 3, 4), ValueError, "true_positive=-1: expected a whole number >= 0"),
        ((1, 2.5, 3, 4), TypeError, r"false_negative=2\.5: expected a whole number"),
        ((0, 0, 3, 4), ValueError, "no item is truly positive: expected at least one"),
        ((1, 2, 0, 0), ValueError, "no item is truly negative: expected at least one"),
    ],
)
def test_a_calibration_that_leaves_a_rate_unknown_is_refused(
    numbers: tuple[Any, ...], error: type[Exception], words: str
) -> None:
    a, b, c, d = numbers
    with pytest.raises(error, match=words):
        JudgeErrors(true_positive=a, false_negative=b, false_positive=c, true_negative=d)


def _coverage(n: int, known: int, rate: float, sensitivity: float, specificity: float) -> float:
    """The chance that the interval holds the truth, over all judges that are better than a coin."""
    return sum(_shares(n, known, rate, sensitivity, specificity, "two-sided"))


def _shares(
    n: int, known: int, rate: float, sensitivity: float, specificity: float, side: Side
) -> list[float]:
    shown = binom.pmf(range(n + 1), n, rate * sensitivity + (1 - rate) * (1 - specificity))
    right = binom.pmf(range(known + 1), known, sensitivity)
    clear = binom.pmf(range(known + 1), known, specificity)
    holding, seen = [], 0.0
    for i, j in ((i, j) for i in range(known + 1) for j in range(known + 1)):
        if i + j <= known or right[i] * clear[j] < 1e-6:
            continue
        judge = JudgeErrors(
            true_positive=i, false_negative=known - i, false_positive=known - j, true_negative=j
        )
        for k in range(n + 1):
            chance = right[i] * clear[j] * shown[k]
            seen += chance
            if chance > 1e-8 and rate in rogan_gladen(k, n, judge, side=side).interval:
                holding.append(chance)
    return [chance / seen for chance in holding]


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("judge", [(0.95, 0.95), (0.9, 0.8), (0.99, 0.7)])
def test_the_interval_holds_the_truth_as_often_as_it_says(
    rate: float, judge: tuple[float, float]
) -> None:
    assert _coverage(20, 10, rate, *judge) >= 0.95
    for side in ("lower", "upper"):
        assert sum(_shares(20, 10, rate, *judge, side)) >= 0.93
