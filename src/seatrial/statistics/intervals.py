"""Confidence intervals for a rate, from successes in n independent trials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import SupportsIndex

from seatrial.statistics.arguments import (
    Side,
    checked_counts,
    checked_open_rate,
    checked_side,
)
from seatrial.statistics.distributions import beta_quantile, normal_tail_quantile

__all__ = ["Interval", "clopper_pearson", "score_limit", "tail_of", "wilson"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval, `low <= high`. A one-sided one ends where its scale does."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"interval from {self.low!r} to {self.high!r}: expected low <= high")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        return self.high - self.low


def tail_of(confidence: float, side: Side) -> float:
    """The error that each limit of an interval may make: all of it, or half where there are two.

    Raises:
        ValueError: If the confidence is not strictly between 0 and 1, or the side is unknown.
    """
    checked_side(side)
    alpha = 1.0 - checked_open_rate("confidence", confidence)
    return alpha / 2.0 if side == "two-sided" else alpha


def clopper_pearson(
    successes: SupportsIndex,
    n: SupportsIndex,
    *,
    confidence: float = 0.95,
    side: Side = "two-sided",
) -> Interval:
    """The exact interval: its coverage is never below the confidence, for any true rate.

    Args:
        n: Trials, >= 1.
        confidence: Coverage promised, strictly between 0 and 1.
        side: "lower" bounds the rate from below (high is 1), "upper" from above (low is 0); each
            then spends the whole error on its one limit.

    Raises:
        TypeError: If a count is no whole number.
        ValueError: If a value is out of range; n = 0 is, because no data is not a rate.

    Source: Clopper and Pearson (1934), Biometrika 26:404-413, as quantiles of beta distributions
    (Brown, Cai and DasGupta 2001, section 4.2.1). Oracle in tests: scipy and statsmodels.
    """
    count, total = checked_counts(successes, n)
    tail = tail_of(confidence, side)
    low, high = 0.0, 1.0
    if side != "upper" and count > 0:
        low = beta_quantile(count, total - count + 1, tail)
    if side != "lower" and count < total:
        high = beta_quantile(count + 1, total - count, tail, upper=True)
    return Interval(low, high)


def wilson(
    successes: SupportsIndex,
    n: SupportsIndex,
    *,
    confidence: float = 0.95,
    side: Side = "two-sided",
) -> Interval:
    """The score interval: its coverage is near the confidence on average, and narrower for it.

    Stays inside [0, 1] and keeps a width at 0/n and n/n. For a promise use `clopper_pearson`: at
    some rates this one covers less often than the confidence says, most of all when one-sided.

    Arguments and errors are those of `clopper_pearson`.

    Source: Wilson (1927), J. Am. Stat. Assoc. 22:209-212. Oracle in tests: statsmodels.
    """
    count, total = checked_counts(successes, n)
    z = normal_tail_quantile(tail_of(confidence, side))
    low = 0.0 if side == "upper" else score_limit(count, total, -z)
    high = 1.0 if side == "lower" else score_limit(count, total, z)
    return Interval(low, high)


def score_limit(count: float, total: float, z: float) -> float:
    """The rate that lies `z` of its own standard errors above count / total; below for z < 0.

    `count` may be a fraction; 0 <= count <= total and total > 0.
    """
    if count == 0 and z <= 0:
        return 0.0
    if count == total and z >= 0:
        return 1.0
    square = z * z
    spread = math.sqrt(count * (total - count) / total + square / 4.0)
    if z < 0:
        # The product of the two limits is known; so no difference of nearly equal numbers.
        larger = (count + square / 2.0 - z * spread) / (total + square)
        return count * count / (total * (total + square)) / larger
    return (count + square / 2.0 + z * spread) / (total + square)
