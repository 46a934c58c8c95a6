"""A few measured values as a median, and how far it can be trusted."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Sample"]

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Sample:
    """Values measured independently of each other under the same conditions.

    Raises:
        ValueError: If there is none.
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("a sample needs at least one value")

    @classmethod
    def of(cls, values: Iterable[float]) -> Sample:
        """The sample of these values."""
        return cls(tuple(values))

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        """What the true median exceeds with at least 95% confidence, or the smallest value.

        Five values are the fewest that reach that confidence; of fewer the smallest is all there
        is to say, so that a short run finds fault only where every one of its values does.

        Source: the sign test turned into an interval of order statistics, Thompson (1936), Ann.
        Math. Statist. 7:122-128. It supposes nothing about how the values are distributed.
        """
        return sorted(self.values)[_rank(len(self.values))]

    @property
    def high(self) -> float:
        """The same from above; see `low`."""
        return sorted(self.values, reverse=True)[_rank(len(self.values))]


def _rank(count: int) -> int:
    """Index of the largest order statistic that bounds the median from below with confidence.

    The value of index k (from 0) exceeds the median only if at most k of `count` fell below it.
    """
    rank = 0
    below = 1.0 / 2**count
    for index in range(1, count):
        below += math.comb(count, index) / 2**count
        if below > 1 - _CONFIDENCE:
            break
        rank = index
    return rank
