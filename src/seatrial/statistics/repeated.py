"""Success of several trials together: any of k passes, or all of k pass."""

from __future__ import annotations

import math
from typing import SupportsIndex

from seatrial.statistics.arguments import checked_counts, whole

__all__ = ["pass_at_k", "pass_hat_k"]


def pass_at_k(successes: SupportsIndex, n: SupportsIndex, k: SupportsIndex) -> float:
    """pass@k: the chance that at least one of k trials passes, from n trials; unbiased.

    The share of all choices of k of the n trials that hold a success. 1 - (1 - rate)**k, the
    obvious estimate, is too low on average.

    Args:
        k: 1 <= k <= n.

    Raises:
        TypeError: If a value is no whole number.
        ValueError: If one is out of range.

    Source: Chen et al. (2021), Evaluating Large Language Models Trained on Code, equation 1.
    """
    count, total, chosen = _checked(successes, n, k)
    return -math.expm1(_log_share(total - count, total, chosen))


def pass_hat_k(successes: SupportsIndex, n: SupportsIndex, k: SupportsIndex) -> float:
    """pass^k: the chance that all of k trials pass, from n trials; unbiased.

    The share of all choices of k of the n trials that are successes alone. rate**k, the obvious
    estimate, is too high on average. Arguments and errors are those of `pass_at_k`.

    Source: Yao et al. (2024), tau-bench, section 3.
    """
    count, total, chosen = _checked(successes, n, k)
    return math.exp(_log_share(count, total, chosen))


def _checked(successes: SupportsIndex, n: SupportsIndex, k: SupportsIndex) -> tuple[int, int, int]:
    count, total = checked_counts(successes, n)
    chosen = whole("k", k, least=1)
    if chosen > total:
        raise ValueError(f"k={chosen}: expected at most n={total}")
    return count, total, chosen


def _log_share(part: int, total: int, chosen: int) -> float:
    """log(C(part, chosen) / C(total, chosen))."""
    if chosen > part:
        return -math.inf
    # The product over i < chosen of (part - i) / (total - i); part and chosen can change sides:
    # C(part, chosen) / C(total, chosen) = C(total - chosen, total - part) / C(total, total - part).
    factors, removed = sorted((chosen, total - part))
    return math.fsum(math.log1p(-removed / (total - i)) for i in range(factors))
