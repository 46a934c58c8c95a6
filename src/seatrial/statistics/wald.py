"""Wald's sequential probability ratio test: tells a good rate from a bad one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import SupportsIndex

from seatrial.statistics.arguments import checked_counts, checked_open_rate, whole
from seatrial.statistics.stopping import StoppingRule

__all__ = ["WaldTest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaldTest:
    """Tells a rate of at least `good_rate` from one of at most `bad_rate`.

    Of all tests with such errors it takes the fewest trials on average at the two rates. Between
    them it promises nothing, and there it takes the longest.

    The limits are 1 / alpha and beta, which keep both errors for certain. Wald's usual ones,
    (1 - beta) / alpha and beta / (1 - alpha), keep them only nearly, for a trial or two less.

    Attributes:
        alpha: The largest chance that a rate of at least `good_rate` is called bad.
        beta: The largest chance that a rate of at most `bad_rate` is called good.

    Raises:
        TypeError: If a value is no number.
        ValueError: If one is not strictly between 0 and 1, or if bad_rate is not below good_rate.

    Source: Wald (1945), Ann. Math. Stat. 16:117-186. Checked in tests by exact computation over all
    paths.
    """

    good_rate: float
    bad_rate: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ("good_rate", "bad_rate", "alpha", "beta"):
            checked_open_rate(name, getattr(self, name))
        if self.bad_rate >= self.good_rate:
            raise ValueError(
                f"bad_rate={self.bad_rate!r}: expected a rate below good_rate={self.good_rate!r}"
            )

    def log_likelihood_ratio(self, successes: SupportsIndex, n: SupportsIndex) -> float:
        """How much likelier the good rate makes the trials than the bad one; n >= 0.

        Good once it is at least -log(beta), bad once it is at most log(alpha).
        """
        count, total = checked_counts(successes, n, least=0)
        return count * math.log(self.good_rate / self.bad_rate) + (total - count) * (
            math.log1p(-self.good_rate) - math.log1p(-self.bad_rate)
        )

    def rule(self, limit: SupportsIndex) -> StoppingRule:
        """The test as a rule for up to `limit` >= 1 trials; cut off there, its errors hold still."""
        most = whole("limit", limit, least=1)
        good, bad = -math.log(self.beta), math.log(self.alpha)
        return StoppingRule.of(
            lambda successes, n: self.log_likelihood_ratio(successes, n) >= good,
            lambda failures, n: self.log_likelihood_ratio(n - failures, n) <= bad,
            most,
        )
