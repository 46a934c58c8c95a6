"""Evidence that may be looked at after every trial, and still keeps its error rate.

The trials so far are weighed against a rate by a mixture: their likelihood, averaged evenly over
the rates of the alternative, divided by that at the rate itself. If the rate is the true one, or
the true one lies away from the alternative, the mean of this e-value is at most 1 whenever one
stops, and the chance that it ever reaches 1 / alpha is at most alpha (Ville's inequality).

Sources: Robbins (1970), Ann. Math. Stat. 41:1397-1409, and Ville (1939); the one-sided form is the
mixture over the alternative alone, each part of which has a mean of at most 1 for every rate beyond
the one tested. Checked in tests by exact computation over all paths.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import SupportsIndex

from seatrial.statistics.arguments import (
    Side,
    checked_counts,
    checked_open_rate,
    checked_side,
    whole,
)
from seatrial.statistics.comparison import ALTERNATIVES, Alternative
from seatrial.statistics.distributions import log_beta_tails, log_binomial_pmf
from seatrial.statistics.intervals import Interval, tail_of
from seatrial.statistics.stopping import StoppingRule

__all__ = ["confidence_sequence", "log_e_value", "sequential_rule"]


def log_e_value(
    successes: SupportsIndex, n: SupportsIndex, rate: float, *, alternative: Alternative
) -> float:
    """The natural logarithm of the evidence that the true rate is not `rate`.

    "greater": that it is higher, against its being `rate` or less; "less" the reverse; "two-sided":
    that it is another. Reject at level alpha once it is at least -log(alpha), at whatever trial.

    Where failures take another time than successes, finished trials are not a fair sample of those
    started: count trials in flight against the alternative, as `StoppingRule.decision` does.

    Args:
        n: Trials, >= 0; before the first the evidence is 0.0.
        rate: Strictly between 0 and 1.

    Raises:
        TypeError: If a count is no whole number.
        ValueError: If a value is out of range, or the alternative unknown.
    """
    checked_side(alternative, ALTERNATIVES, name="alternative")
    count, total = checked_counts(successes, n, least=0)
    tested = checked_open_rate("rate", rate)
    if alternative == "greater":
        return _log_evidence_above(count, total, tested)
    if alternative == "less":
        return _log_evidence_above(total - count, total, 1.0 - tested)
    return _log_evidence_elsewhere(count, total, tested)


def _log_evidence_elsewhere(count: int, total: int, rate: float) -> float:
    """Evenly over all rates the likelihood's mean is 1 / (n + 1), whatever the successes."""
    return -math.log(total + 1.0) - log_binomial_pmf(count, total, rate)


def _log_evidence_above(count: int, total: int, rate: float) -> float:
    """Evenly over the rates above: an incomplete beta function, divided by 1 - rate."""
    _, log_above = log_beta_tails(count + 1.0, total - count + 1.0, rate)
    return log_above - math.log1p(-rate) + _log_evidence_elsewhere(count, total, rate)


def confidence_sequence(
    successes: SupportsIndex,
    n: SupportsIndex,
    *,
    confidence: float = 0.95,
    side: Side = "two-sided",
) -> Interval:
    """A confidence interval that may be computed after every trial.

    With the probability `confidence` the intervals of all n, however many, hold the true rate
    together. So one may stop at any of them, for whatever reason; it is wider than
    `clopper_pearson` for that.

    Args:
        n: Trials, >= 0; before the first it is [0, 1].
        side: As for `clopper_pearson`.

    Raises:
        TypeError: If a count is no whole number.
        ValueError: If a value is out of range.
    """
    count, total = checked_counts(successes, n, least=0)
    alpha = 1.0 - checked_open_rate("confidence", confidence)
    checked_side(side)
    bar = -math.log(alpha)
    evidence = _log_evidence_elsewhere if side == "two-sided" else _log_evidence_above
    low, high = 0.0, 1.0
    if side != "upper":
        low = _lower_limit(evidence, count, total, bar)
    if side != "lower":
        high = 1.0 - _lower_limit(evidence, total - count, total, bar)
    return Interval(low, high)


def _lower_limit(
    evidence: Callable[[int, int, float], float], count: int, total: int, bar: float
) -> float:
    """The highest rate below the successes' share that the evidence rules out; 0.0 if none.

    Up to count / (total + 1) the evidence falls as the rate rises, in both of its forms. So a rate
    that is ruled out takes all lower ones with it.
    """
    if count == 0:
        return 0.0
    low, high = 0.0, count / (total + 1.0)
    for _ in range(200):
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        if evidence(count, total, middle) >= bar:
            low = middle
        else:
            high = middle
    return low


def sequential_rule(
    threshold: float, limit: SupportsIndex, *, confidence: float = 0.95
) -> StoppingRule:
    """Stop once a one-sided `log_e_value` proves the rate above the threshold, or below it.

    For every true rate up to the threshold the chance of ever deciding "good" is at most
    1 - confidence, and so is that of ever deciding "bad" for every rate from the threshold on.

    Args:
        threshold: Strictly between 0 and 1.
        limit: Trials after which no more are made, >= 1.

    Raises:
        TypeError: If the limit is no whole number.
        ValueError: If a value is out of range.
    """
    most = whole("limit", limit, least=1)
    rate = checked_open_rate("threshold", threshold)
    bar = -math.log(tail_of(confidence, "lower"))
    return StoppingRule.of(
        lambda successes, n: _log_evidence_above(successes, n, rate) >= bar,
        lambda failures, n: _log_evidence_above(failures, n, 1.0 - rate) >= bar,
        most,
    )
