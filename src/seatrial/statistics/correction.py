"""Rates corrected for the errors of whoever judged the trials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import SupportsIndex

from seatrial.statistics.arguments import Side, checked_counts, whole
from seatrial.statistics.distributions import normal_tail_quantile
from seatrial.statistics.intervals import Interval, score_limit, tail_of

__all__ = ["CorrectedRate", "JudgeErrors", "rogan_gladen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeErrors:
    """What a judge said of items whose truth is known, in numbers of items.

    "Positive" is what the rate counts: of a pass rate, the items that truly pass. Intervals of the
    two rates are those of any rate: `clopper_pearson(true_positive, positives)`.

    Raises:
        TypeError: If a number is no whole one.
        ValueError: If one is negative, or no item is truly positive, or none truly negative: then
            one of the two rates is unknown.
    """

    true_positive: int
    false_negative: int
    false_positive: int
    true_negative: int

    def __post_init__(self) -> None:
        for name in ("true_positive", "false_negative", "false_positive", "true_negative"):
            whole(name, getattr(self, name))
        for truth, number in (("positive", self.positives), ("negative", self.negatives)):
            if number == 0:
                raise ValueError(f"no item is truly {truth}: expected at least one")

    @property
    def positives(self) -> int:
        """Items that truly are positive."""
        return self.true_positive + self.false_negative

    @property
    def negatives(self) -> int:
        """Items that truly are negative."""
        return self.false_positive + self.true_negative

    @property
    def sensitivity(self) -> float:
        """The share of truly positive items that the judge calls positive."""
        return self.true_positive / self.positives

    @property
    def specificity(self) -> float:
        """The share of truly negative items that the judge calls negative."""
        return self.true_negative / self.negatives


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """A rate as it would be without the judge's errors.

    Attributes:
        value: In [0, 1]; cut off there, which the estimate itself need not be.
        interval: Counts the chance in the trials and in the judge's calibration.
    """

    value: float
    interval: Interval


def rogan_gladen(
    successes: SupportsIndex,
    n: SupportsIndex,
    judge: JudgeErrors,
    *,
    confidence: float = 0.95,
    side: Side = "two-sided",
) -> CorrectedRate:
    """The true rate of positives among n trials of which the judge called `successes` positive.

    The interval is Lang and Reiczigel's: near its confidence on average, not a promise for every
    rate. It supposes that the judge errs on these trials as often as on the known items. It is
    [0, 1] where the known items are too few to tell the judge from a coin, and never narrower than
    what a faultless judge would leave open (`wilson`): near the ends theirs can lose its width.

    Args:
        n: Trials that were judged, >= 1.
        side: As for `clopper_pearson`.

    Raises:
        TypeError: If a count is no whole number.
        ValueError: If a value is out of range, or if sensitivity and specificity add up to 1 or
            less: such a judge says nothing about the truth.

    Source: Rogan and Gladen (1978), Am. J. Epidemiol. 107:71-76; the interval: Lang and Reiczigel
    (2014), Prev. Vet. Med. 113:13-22.
    """
    count, total = checked_counts(successes, n)
    z = normal_tail_quantile(tail_of(confidence, side))
    power = judge.sensitivity + judge.specificity - 1.0
    if power <= 0.0:
        raise ValueError(
            f"sensitivity {judge.sensitivity:.3g} and specificity {judge.specificity:.3g}: "
            "expected a sum above 1; this judge's answers say nothing about the truth"
        )
    value = _within_rates((count / total + judge.specificity - 1.0) / power)
    low, high = _limits(count, total, judge, z)
    return CorrectedRate(
        value,
        Interval(
            0.0
            if side == "upper"
            else min(_within_rates(low), score_limit(value * total, total, -z)),
            1.0
            if side == "lower"
            else max(_within_rates(high), score_limit(value * total, total, z)),
        ),
    )


def _limits(count: int, total: int, judge: JudgeErrors, z: float) -> tuple[float, float]:
    """Lang and Reiczigel's limits, before they are cut off at 0 and 1."""
    square = z * z
    observed = (count + square / 2.0) / (total + square)
    sensitivity = (judge.true_positive + 1.0) / (judge.positives + 2.0)
    specificity = (judge.true_negative + 1.0) / (judge.negatives + 2.0)
    power = sensitivity + specificity - 1.0
    if power <= 0.0:
        return 0.0, 1.0
    centre = (observed + specificity - 1.0) / power
    sensitivity_variance = sensitivity * (1.0 - sensitivity) / (judge.positives + 2.0)
    specificity_variance = specificity * (1.0 - specificity) / (judge.negatives + 2.0)
    variance = (
        observed * (1.0 - observed) / (total + square)
        + centre**2 * sensitivity_variance
        + (1.0 - centre) ** 2 * specificity_variance
    ) / power**2
    shift = 2.0 * square * (centre * sensitivity_variance - (1.0 - centre) * specificity_variance)
    spread = z * math.sqrt(variance)
    return centre + shift - spread, centre + shift + spread


def _within_rates(value: float) -> float:
    return min(1.0, max(0.0, value))
