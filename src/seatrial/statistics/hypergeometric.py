"""The hypergeometric distribution: successes of one group, given those of both together.

Source: Loader (2000), Fast and Accurate Computation of Binomial Probabilities, section 6, for the
probability of one value; tails add up the ratios of neighbours. Oracle in tests: scipy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from seatrial.statistics.distributions import log_binomial_pmf

__all__ = ["Hypergeometric"]

_NEGLIGIBLE = 1e-17  # of a sum whose terms fall ever faster


@dataclass(frozen=True, slots=True)
class Hypergeometric:
    """X of the first n_1 trials succeed, if `successes` of all n_1 + n_2 do and no rate differs."""

    successes: int
    n_1: int
    n_2: int

    @property
    def least(self) -> int:
        """The smallest possible value."""
        return max(0, self.successes - self.n_2)

    @property
    def most(self) -> int:
        """The largest possible value."""
        return min(self.successes, self.n_1)

    @property
    def mode(self) -> int:
        """A most probable value."""
        return (self.successes + 1) * (self.n_1 + 1) // (self.n_1 + self.n_2 + 2)

    def log_pmf(self, x: int) -> float:
        """log P(X = x); -inf where that is 0."""
        total = self.n_1 + self.n_2
        rate = self.successes / total
        return (
            log_binomial_pmf(x, self.n_1, rate)
            + log_binomial_pmf(self.successes - x, self.n_2, rate)
            - log_binomial_pmf(self.successes, total, rate)
        )

    def ratio_up(self, x: int) -> float:
        """P(X = x + 1) / P(X = x), for x that can be."""
        return (
            (self.n_1 - x) * (self.successes - x) / ((x + 1) * (self.n_2 - self.successes + x + 1))
        )

    def at_least(self, x: int) -> float:
        """P(X >= x), precise however small."""
        if x <= self.least:
            return 1.0
        if x > self.most:
            return 0.0
        if x <= self.mode:
            return 1.0 - self.at_most(x - 1)
        total = term = 1.0
        for value in range(x, self.most):
            term *= self.ratio_up(value)
            total += term
            if term < _NEGLIGIBLE * total:
                break
        return min(1.0, math.exp(self.log_pmf(x)) * total)

    def at_most(self, x: int) -> float:
        """P(X <= x), precise however small."""
        if x >= self.most:
            return 1.0
        if x < self.least:
            return 0.0
        if x >= self.mode:
            return 1.0 - self.at_least(x + 1)
        total = term = 1.0
        for value in range(x - 1, self.least - 1, -1):
            term /= self.ratio_up(value)
            total += term
            if term < _NEGLIGIBLE * total:
                break
        return min(1.0, math.exp(self.log_pmf(x)) * total)
