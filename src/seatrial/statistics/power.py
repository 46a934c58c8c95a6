"""How likely so many trials are to prove what is so, and how many it takes.

Exact: the probabilities of all outcomes that the test would call proof are added up. What a test
can prove moves in steps, so power does not rise with every single trial; the numbers of trials here
are some at which the power is reached and one trial less does not reach it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import SupportsIndex

from seatrial.statistics.arguments import checked_open_rate, checked_rate, checked_side, whole
from seatrial.statistics.comparison import ALTERNATIVES, Alternative, two_sided_p_value
from seatrial.statistics.distributions import (
    binomial_at_least,
    binomial_probabilities,
)
from seatrial.statistics.hypergeometric import Hypergeometric

__all__ = [
    "detectable_drop",
    "most_successes_below",
    "power_to_prove",
    "successes_to_prove",
    "trials_per_group",
    "trials_to_prove",
    "two_sample_power",
]

_NEGLIGIBLE = 1e-14  # of a power
_MOST_PER_GROUP = 20_000
_MOST_TRIALS = 1_000_000


def successes_to_prove(n: SupportsIndex, threshold: float, *, confidence: float = 0.95) -> int:
    """The fewest successes in n trials that prove a rate of at least `threshold`.

    Proof is a lower one-sided Clopper-Pearson limit at or above the threshold. n + 1 says that not
    even n successes would do.

    Raises:
        TypeError: If n is no whole number.
        ValueError: If a value is out of range; threshold and confidence lie strictly in (0, 1).
    """
    total = whole("n", n, least=1)
    checked_open_rate("threshold", threshold)
    alpha = 1.0 - checked_open_rate("confidence", confidence)
    # P(X >= k) at the threshold falls with k: bisect for the first that alpha allows.
    low, high = 0, total + 1
    while high - low > 1:
        middle = (low + high) // 2
        if binomial_at_least(middle, total, threshold) <= alpha:
            high = middle
        else:
            low = middle
    return high


def most_successes_below(n: SupportsIndex, threshold: float, *, confidence: float = 0.95) -> int:
    """The most successes in n trials that prove a rate below `threshold`; -1 if none would do.

    Proof is an upper one-sided Clopper-Pearson limit at or below the threshold. Raises what
    `successes_to_prove` does.
    """
    total = whole("n", n, least=1)
    checked_open_rate("threshold", threshold)
    # The failures that prove that the rate of failures is high enough.
    return total - successes_to_prove(total, 1.0 - threshold, confidence=confidence)


def power_to_prove(
    n: SupportsIndex, threshold: float, rate: float, *, confidence: float = 0.95
) -> float:
    """The chance that n trials of an agent with the true `rate` prove at least `threshold`.

    Raises what `successes_to_prove` does, and a ValueError if the rate is not in [0, 1].
    """
    total = whole("n", n, least=1)
    checked_rate("rate", rate)
    needed = successes_to_prove(total, threshold, confidence=confidence)
    return binomial_at_least(needed, total, rate)


def trials_to_prove(
    threshold: float, rate: float, *, confidence: float = 0.95, power: float = 0.8
) -> int | None:
    """Trials with which an agent with the true `rate` proves `threshold` with chance `power`.

    None if a million do not. Errors are those of `power_to_prove`; a rate at or below the threshold
    is a ValueError, for it cannot be proved to be above.
    """
    checked_open_rate("power", power)
    checked_open_rate("threshold", threshold)
    if checked_rate("rate", rate) <= threshold:
        raise ValueError(f"rate={rate!r}: expected a rate above threshold={threshold!r}")
    return _fewest(
        lambda n: power_to_prove(n, threshold, rate, confidence=confidence) >= power, _MOST_TRIALS
    )


def two_sample_power(
    rate_1: float,
    n_1: SupportsIndex,
    rate_2: float,
    n_2: SupportsIndex,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> float:
    """The chance that Fisher's exact test finds the difference of two true rates.

    A lower bound of Boschloo's too for one-sided alternatives.

    Args:
        n_1, n_2: Trials, 1 to 20,000 in each group.
        alpha: The largest p-value that counts as found, strictly between 0 and 1.

    Raises:
        TypeError: If a count is no whole number.
        ValueError: If a value is out of range, or the alternative unknown.

    Source: the definition; cf. Casagrande, Pike and Smith (1978), Appl. Stat. 27:176-180.
    """
    checked_side(alternative, ALTERNATIVES, name="alternative")
    checked_open_rate("alpha", alpha)
    size_1, size_2 = _checked_size("n_1", n_1), _checked_size("n_2", n_2)
    checked_rate("rate_1", rate_1)
    checked_rate("rate_2", rate_2)
    first, second = _outcomes(size_1, rate_1), _outcomes(size_2, rate_2)
    if alternative == "greater":
        return min(1.0, _power_above(first, second, alpha, Hypergeometric.at_least))
    if alternative == "less":
        return min(1.0, _power_above(second, first, alpha, Hypergeometric.at_least))
    above = _power_above(first, second, alpha, two_sided_p_value)
    below = _power_above(second, first, alpha, two_sided_p_value)
    return min(1.0, above + below)


def trials_per_group(
    rate_1: float,
    rate_2: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> int | None:
    """Trials in each of two equal groups to find the difference with the chance `power`.

    None if 20,000 do not. Errors are those of `two_sample_power`, and a ValueError if the rates do
    not differ in the way of the alternative.
    """
    checked_open_rate("power", power)
    first, second = checked_rate("rate_1", rate_1), checked_rate("rate_2", rate_2)
    differ = {"less": first < second, "greater": first > second}.get(alternative, first != second)
    if not differ:
        raise ValueError(
            f"rate_1={rate_1!r} and rate_2={rate_2!r}: expected rates that differ as "
            f"alternative={alternative!r} says"
        )
    return _fewest(
        lambda n: (
            two_sample_power(first, n, second, n, alpha=alpha, alternative=alternative) >= power
        ),
        _MOST_PER_GROUP,
    )


def detectable_drop(
    baseline_rate: float,
    baseline_n: SupportsIndex,
    n: SupportsIndex,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
) -> float | None:
    """The highest lower rate that n trials tell from the baseline with the chance `power`.

    To within 0.0001, by Fisher's one-sided test. None if not even a rate of 0 would be found out.
    Errors are those of `two_sample_power`.
    """
    checked_open_rate("power", power)

    def found(rate: float) -> bool:
        chance = two_sample_power(
            rate, n, baseline_rate, baseline_n, alpha=alpha, alternative="less"
        )
        return chance >= power

    if not found(0.0):
        return None
    low, high = 0.0, float(baseline_rate)
    while high - low > 1e-4:
        middle = (low + high) / 2.0
        if found(middle):
            low = middle
        else:
            high = middle
    return low


def _fewest(enough: Callable[[int], bool], limit: int) -> int | None:
    """An n up to the limit that is enough although n - 1 is not: by doubling, then bisection."""
    low, high = 0, 1
    while not enough(high):
        if high == limit:
            return None
        low, high = high, min(2 * high, limit)
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _checked_size(name: str, value: SupportsIndex) -> int:
    size = whole(name, value, least=1)
    if size > _MOST_PER_GROUP:
        raise ValueError(f"{name}={size}: expected at most {_MOST_PER_GROUP}")
    return size


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """The numbers of successes of n trials that are not negligible, and their probabilities."""

    n: int
    least: int
    probabilities: tuple[float, ...]

    @property
    def most(self) -> int:
        return self.least + len(self.probabilities) - 1

    def probability(self, successes: int) -> float:
        return self.probabilities[successes - self.least]


def _outcomes(n: int, rate: float) -> _Outcomes:
    if rate in (0.0, 1.0):
        return _Outcomes(n, n if rate else 0, (1.0,))
    probabilities = binomial_probabilities(n, rate, _NEGLIGIBLE / n)
    kept = [k for k, value in enumerate(probabilities) if value]
    return _Outcomes(n, kept[0], tuple(probabilities[kept[0] : kept[-1] + 1]))


def _power_above(
    first: _Outcomes,
    second: _Outcomes,
    alpha: float,
    p_value: Callable[[Hypergeometric, int], float],
) -> float:
    """The chance of a p-value up to alpha where the first group has the more successes.

    Away from the mode p-values fall, and from one sum of successes to the next the first of those
    that count moves little: it is followed, not searched.
    """
    power = 0.0
    bound = 0
    for total in range(first.least + second.least, first.most + second.most + 1):
        given = Hypergeometric(total, first.n, second.n)
        bound = min(max(bound, given.mode), given.most + 1)
        while bound <= given.most and p_value(given, bound) > alpha:
            bound += 1
        while bound > given.least and p_value(given, bound - 1) <= alpha:
            bound -= 1
        low = max(bound, first.least, total - second.most)
        high = min(given.most, first.most, total - second.least)
        power += math.fsum(
            first.probability(x) * second.probability(total - x) for x in range(low, high + 1)
        )
    return power
