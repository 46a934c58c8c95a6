"""Do two rates differ? Exact tests of two groups, and of pairs.

In all of them `alternative` says what would be proved: "less", that the first rate is the lower
one; "greater", that it is the higher one; "two-sided", that they differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, Literal, SupportsIndex

from seatrial.statistics.arguments import checked_counts, checked_side, whole
from seatrial.statistics.distributions import binomial_at_most, binomial_probabilities
from seatrial.statistics.hypergeometric import Hypergeometric

__all__ = ["ALTERNATIVES", "Alternative", "boschloo", "fisher", "mcnemar", "two_sided_p_value"]

Alternative = Literal["two-sided", "less", "greater"]
ALTERNATIVES: Final = ("two-sided", "less", "greater")

_EQUAL_FISHER: Final = 1.0 + 1e-9  # equal p-values of two tables may differ by rounding
_EQUAL_PROBABILITY: Final = 1e-7  # as in R's fisher.test
_MOST_FOR_BOSCHLOO: Final = 4_000
_POINTS_PER_DEVIATION: Final = 4
_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0


def fisher(
    successes_1: SupportsIndex,
    n_1: SupportsIndex,
    successes_2: SupportsIndex,
    n_2: SupportsIndex,
    *,
    alternative: Alternative = "two-sided",
) -> float:
    """The p-value of Fisher's exact test of two independent groups.

    Exact given the successes of both groups together, and so conservative: `boschloo` finds more.
    Two-sided, it adds up all outcomes that are no more probable than the one seen.

    Raises:
        TypeError: If a count is no whole number.
        ValueError: If a count is out of range, or the alternative unknown.

    Source: Fisher (1935), J. R. Stat. Soc. 98:39-82. Oracle in tests: scipy.
    """
    checked_side(alternative, ALTERNATIVES, name="alternative")
    first, size_1 = checked_counts(successes_1, n_1)
    second, size_2 = checked_counts(successes_2, n_2)
    given = Hypergeometric(first + second, size_1, size_2)
    if alternative == "less":
        return given.at_most(first)
    if alternative == "greater":
        return given.at_least(first)
    return two_sided_p_value(given, first)


def two_sided_p_value(given: Hypergeometric, seen: int) -> float:
    """The probability of all values that are no more probable than the one seen."""
    bar = given.log_pmf(seen) + _EQUAL_PROBABILITY
    if given.log_pmf(given.mode) <= bar:
        return 1.0
    # On the other side of the mode probabilities fall steadily: bisect for the first small enough.
    near, far = (given.mode, given.most + 1) if seen < given.mode else (given.mode, given.least - 1)
    while abs(far - near) > 1:
        middle = (near + far) // 2
        if given.log_pmf(middle) <= bar:
            far = middle
        else:
            near = middle
    if seen < given.mode:
        return min(1.0, given.at_most(seen) + given.at_least(far))
    return min(1.0, given.at_least(seen) + given.at_most(far))


def boschloo(
    successes_1: SupportsIndex,
    n_1: SupportsIndex,
    successes_2: SupportsIndex,
    n_2: SupportsIndex,
    *,
    alternative: Alternative = "two-sided",
) -> float:
    """The p-value of Boschloo's exact test of two independent groups.

    Never larger than Fisher's for a one-sided alternative, and exact whatever the common rate: the
    largest probability, over all such rates, of a Fisher p-value as small as the one seen. Two-sided
    it is twice the smaller one-sided p-value. The largest is sought on a grid much finer than the
    probability can vary, then refined. With more than 4,000 trials in all, Fisher's p-value is
    given in its place: valid too, hardly larger by then, and quick.

    Arguments and errors are those of `fisher`.

    Source: Boschloo (1970), Stat. Neerl. 24:1-9. Oracle in tests: scipy.
    """
    checked_side(alternative, ALTERNATIVES, name="alternative")
    first, size_1 = checked_counts(successes_1, n_1)
    second, size_2 = checked_counts(successes_2, n_2)
    if alternative == "two-sided":
        less = boschloo(first, size_1, second, size_2, alternative="less")
        greater = boschloo(first, size_1, second, size_2, alternative="greater")
        return min(1.0, 2.0 * min(less, greater))
    if alternative == "less":
        return boschloo(second, size_2, first, size_1, alternative="greater")
    bar = fisher(first, size_1, second, size_2, alternative="greater") * _EQUAL_FISHER
    if bar >= 1.0 or size_1 + size_2 > _MOST_FOR_BOSCHLOO:
        return min(1.0, bar / _EQUAL_FISHER)
    limits = _region(bar, size_1, size_2)
    negligible = bar * 1e-16
    return min(
        1.0,
        _largest(lambda rate: _chance(limits, size_2, rate, negligible), size_1 + size_2),
    )


def _region(bar: float, n_1: int, n_2: int) -> list[int]:
    """For each number of first successes, the most second ones with a Fisher p-value up to `bar`.

    -1 where there are none. The limits never fall, so one walk along them finds all.
    """
    limits = []
    limit = -1
    for first in range(n_1 + 1):
        while limit < n_2 and Hypergeometric(first + limit + 1, n_1, n_2).at_least(first) <= bar:
            limit += 1
        limits.append(limit)
    return limits


def _chance(limits: list[int], n_2: int, rate: float, negligible: float) -> float:
    """The probability of the region below `limits` where both groups have the same rate.

    Numbers of successes of one group with a smaller probability than `negligible` are left out.
    """
    cumulated = [0.0]
    for probability in binomial_probabilities(n_2, rate, negligible):
        cumulated.append(cumulated[-1] + probability)
    first = binomial_probabilities(len(limits) - 1, rate, negligible)
    return math.fsum(
        probability * cumulated[limit + 1]
        for probability, limit in zip(first, limits, strict=True)
        if probability
    )


def _largest(chance: Callable[[float], float], n: int) -> float:
    """The largest value over rates in (0, 1) of a probability of outcomes of n trials.

    On the scale of arcsin(sqrt(rate)) the outcome's standard deviation is 1 / (2 sqrt(n)) at every
    rate, and no probability changes much within a small part of it.
    """
    points = math.ceil(_POINTS_PER_DEVIATION * math.pi * math.sqrt(n)) + 1
    step = math.pi / 2.0 / points

    def at(angle: float) -> float:
        return chance(math.sin(angle) ** 2)

    values = [at(step * point) for point in range(1, points)]
    best = max(values)
    peaks = [
        place
        for place, value in enumerate(values)
        if value > 0.98 * best and value >= max(values[max(0, place - 1) : place + 2])
    ]
    return max(best, *(_refined(at, step * peak, step * (peak + 2)) for peak in peaks))


def _refined(function: Callable[[float], float], low: float, high: float) -> float:
    """The largest value of a function with one peak between low and high: golden section."""
    low_inner, high_inner = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_low, at_high = function(low_inner), function(high_inner)
    for _ in range(25):
        if at_low < at_high:
            low, low_inner, at_low = low_inner, high_inner, at_high
            high_inner = low + _GOLDEN * (high - low)
            at_high = function(high_inner)
        else:
            high, high_inner, at_high = high_inner, low_inner, at_low
            low_inner = high - _GOLDEN * (high - low)
            at_low = function(low_inner)
    return max(at_low, at_high)


def mcnemar(
    first_only: SupportsIndex,
    second_only: SupportsIndex,
    *,
    alternative: Alternative = "two-sided",
) -> float:
    """The p-value of the exact McNemar test of two rates over the same cases.

    Pairs with the same outcome on both sides say nothing about a difference and are not asked for.
    Without any other pair the p-value is 1.

    Args:
        first_only: Pairs in which only the first succeeded.
        second_only: Pairs in which only the second did.

    Raises:
        TypeError: If a count is no whole number.
        ValueError: If one is negative, or the alternative unknown.

    Source: McNemar (1947), Psychometrika 12:153-157, as a sign test on the pairs that differ.
    Oracle in tests: statsmodels and scipy.
    """
    checked_side(alternative, ALTERNATIVES, name="alternative")
    first = whole("first_only", first_only)
    second = whole("second_only", second_only)
    if alternative == "less":
        return binomial_at_most(first, first + second, 0.5)
    if alternative == "greater":
        return binomial_at_most(second, first + second, 0.5)
    return min(1.0, 2.0 * binomial_at_most(min(first, second), first + second, 0.5))
