"""The beta and binomial distributions, precise in both tails and for n up to a million.

What the standard library lacks for exact intervals and tests. Densities avoid the cancellation of
three large log-gammas by Loader's saddle-point form; the incomplete beta function is a continued
fraction; its inverse a safeguarded Newton iteration on the logarithm of the tail.

Sources: Loader (2000), Fast and Accurate Computation of Binomial Probabilities; DLMF 8.17.22 (the
continued fraction, by Lentz's method as modified by Thompson and Barnett 1986); DLMF 8.17.5
(binomial sums as incomplete beta functions). Oracle in tests: scipy.
"""

from __future__ import annotations

import math
from typing import Final

__all__ = [
    "beta_quantile",
    "beta_tails",
    "binomial_at_least",
    "binomial_at_most",
    "binomial_pmf",
    "binomial_probabilities",
    "log_beta_tails",
    "log_binomial_pmf",
    "normal_tail_quantile",
]

_HALF_LOG_TWO_PI: Final = 0.5 * math.log(2.0 * math.pi)
_TINY: Final = 1e-300  # stands for a zero denominator in Lentz's method
_PRECISION: Final = 3e-16
_MOST_TERMS: Final = 1_000_000  # the fraction needs about sqrt(a + b) at worst
_MOST_STEPS: Final = 200  # Newton takes about five
_LONGEST_STEP: Final = 8.0  # where the tail is flat, its tangent leads far beyond the root
_LARGEST_EXPONENT: Final = 700.0
_FURTHEST_LOGIT: Final = 600.0


def normal_tail_quantile(tail: float) -> float:
    """The z that a standard normal variable exceeds with probability `tail`, in (0, 1)."""
    # Imported here: it brings decimal, fractions and random, which no session needs to start.
    from statistics import NormalDist

    return -NormalDist().inv_cdf(tail)


def _stirling_error(z: float) -> float:
    """lgamma(z) less Stirling's approximation to it, for z > 0."""
    if z < 16.0:
        return math.lgamma(z) - ((z - 0.5) * math.log(z) - z + _HALF_LOG_TWO_PI)
    square = z * z
    series = 1 / 1188.0 - 691 / 360360.0 / square
    for coefficient in (-1 / 1680.0, 1 / 1260.0, -1 / 360.0, 1 / 12.0):
        series = coefficient + series / square
    return series / z


def _deviance(value: float, mean: float, excess: float) -> float:
    """value * log(value / mean) + mean - value, where excess = value - mean; both above 0."""
    if abs(excess) < 0.1 * (value + mean):
        # log(value / mean) = 2 atanh(v); the terms of first order cancel, so they are left out.
        v = excess / (value + mean)
        square = v * v
        total = excess * v
        power = 2.0 * value * v
        for odd in range(3, 1000, 2):
            power *= square
            step = power / odd
            total += step
            if abs(step) <= 1e-17 * abs(total):
                break
        return total
    return value * math.log(value / mean) - excess


def _log_power(a: float, b: float, x: float, y: float) -> float:
    """log(x**a * y**b / B(a, b)) for a, b > 0, 0 < x < 1 and y = 1 - x."""
    total = a + b
    excess = a - total * x if x < y else total * y - b
    return (
        0.5 * math.log(a / total * b)
        - _HALF_LOG_TWO_PI
        + _stirling_error(total)
        - _stirling_error(a)
        - _stirling_error(b)
        - _deviance(a, total * x, excess)
        - _deviance(b, total * y, -excess)
    )


def _fraction(a: float, b: float, x: float) -> float:
    """The incomplete beta function's continued fraction, for x at most (a + 1) / (a + b + 2)."""
    c = 1.0
    d = 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, _MOST_TERMS):
        even = a + 2 * m
        step = m * (b - m) * x / ((even - 1.0) * even)
        d = 1.0 + step * d
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = 1.0 + step / c
        c = c if abs(c) > _TINY else _TINY
        value *= d * c
        step = -(a + m) * (a + b + m) * x / (even * (even + 1.0))
        d = 1.0 + step * d
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = 1.0 + step / c
        c = c if abs(c) > _TINY else _TINY
        change = d * c
        value *= change
        if abs(change - 1.0) <= _PRECISION:
            break
    return value


def log_beta_tails(a: float, b: float, x: float) -> tuple[float, float]:
    """The logarithms of what `beta_tails` gives, for 0 < x < 1; they do not underflow."""
    return _log_tails(a, b, x, 1.0 - x)


def _log_tails(a: float, b: float, x: float, y: float) -> tuple[float, float]:
    """As `log_beta_tails`, for y = 1 - x that may be far smaller than the rounding of x."""
    log_power = _log_power(a, b, x, y)
    if x <= (a + 1.0) / (a + b + 2.0):
        log_below = min(0.0, log_power + math.log(_fraction(a, b, x) / a))
        return log_below, _log_complement(log_below)
    log_above = min(0.0, log_power + math.log(_fraction(b, a, y) / b))
    return _log_complement(log_above), log_above


def _log_complement(log_value: float) -> float:
    return math.log(-math.expm1(log_value)) if log_value < 0.0 else -math.inf


def beta_tails(a: float, b: float, x: float) -> tuple[float, float]:
    """P(X <= x) and P(X > x) for X with the beta distribution of a, b > 0; x in [0, 1].

    Both keep their relative precision, however small. The time grows with the square root of a + b.
    """
    if x <= 0.0:
        return 0.0, 1.0
    if x >= 1.0:
        return 1.0, 0.0
    below, above = log_beta_tails(a, b, x)
    return math.exp(below), math.exp(above)


def beta_quantile(a: float, b: float, tail: float, *, upper: bool = False) -> float:
    """The x with P(X <= x) = tail, or with `upper` P(X > x) = tail, for X beta distributed.

    Needs a, b >= 1 and 0 < tail < 1. x is precise relative to its size, so a small one is too.
    """
    if a == 1.0:  # P(X > x) = (1 - x) ** b
        return -math.expm1((math.log(tail) if upper else math.log1p(-tail)) / b)
    if b == 1.0:  # P(X <= x) = x ** a
        return math.exp((math.log1p(-tail) if upper else math.log(tail)) / a)
    target = math.log(tail)
    # Newton on the logarithm of the tail over the logit of x, where it is concave.
    logit = -_first_guess(b, a, tail) if upper else _first_guess(a, b, tail)
    sign = -1.0 if upper else 1.0
    for _ in range(_MOST_STEPS):
        x, y = 1.0 / (1.0 + math.exp(-logit)), 1.0 / (1.0 + math.exp(logit))
        log_tail = _log_tails(a, b, x, y)[upper]
        slope = math.exp(min(_log_power(a, b, x, y) - log_tail, _LARGEST_EXPONENT))
        step = sign * (target - log_tail) / max(slope, _TINY)
        logit += max(-_LONGEST_STEP, min(_LONGEST_STEP, step))
        if abs(step) <= 1e-9:  # the error after a step is of the order of its square
            break
    return 1.0 / (1.0 + math.exp(-logit))


def _first_guess(a: float, b: float, tail: float) -> float:
    """The logit of the x with P(X <= x) = tail, roughly: Abramowitz and Stegun 26.5.22."""
    z = normal_tail_quantile(tail)
    weight = (z * z - 3.0) / 6.0
    inverse_a, inverse_b = 1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0)
    harmonic = 2.0 / (inverse_a + inverse_b)
    exponent = z * math.sqrt(max(0.0, harmonic + weight)) / harmonic - (inverse_b - inverse_a) * (
        weight + 5.0 / 6.0 - 2.0 / (3.0 * harmonic)
    )
    logit = math.log(a / b) - 2.0 * exponent
    return max(-_FURTHEST_LOGIT, min(_FURTHEST_LOGIT, logit))


def log_binomial_pmf(k: int, n: int, rate: float) -> float:
    """log P(X = k) for X successes in n >= 0 trials of the given rate; -inf where it is 0."""
    if not 0 <= k <= n:
        return -math.inf
    if rate <= 0.0 or rate >= 1.0:
        return 0.0 if k == (0 if rate <= 0.0 else n) else -math.inf
    if k == 0:
        return n * math.log1p(-rate)
    if k == n:
        return n * math.log(rate)
    return _log_power(k, n - k, rate, 1.0 - rate) + math.log(n / k / (n - k))


def binomial_pmf(k: int, n: int, rate: float) -> float:
    """P(X = k) for X successes in n >= 0 trials of the given rate; 0 outside 0..n."""
    return math.exp(log_binomial_pmf(k, n, rate))


def binomial_probabilities(n: int, rate: float, negligible: float = 0.0) -> list[float]:
    """P(X = k) for k = 0..n, X successes in n trials of a rate strictly between 0 and 1.

    Beyond the first that is smaller than `negligible`, on each side of the mode, all are 0.
    """
    values = [0.0] * (n + 1)
    mode = min(n, int((n + 1) * rate))
    odds = rate / (1.0 - rate)
    start = value = binomial_pmf(mode, n, rate)
    values[mode] = start
    for k in range(mode, n):
        value *= (n - k) / (k + 1) * odds
        if value <= negligible:
            break
        values[k + 1] = value
    value = start
    for k in range(mode, 0, -1):
        value *= k / (n - k + 1) / odds
        if value <= negligible:
            break
        values[k - 1] = value
    return values


def binomial_at_most(k: int, n: int, rate: float) -> float:
    """P(X <= k) for X successes in n >= 0 trials of the given rate, precise however small."""
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    return beta_tails(k + 1, n - k, rate)[1]


def binomial_at_least(k: int, n: int, rate: float) -> float:
    """P(X >= k) for X successes in n >= 0 trials of the given rate, precise however small."""
    if k <= 0:
        return 1.0
    if k > n:
        return 0.0
    return beta_tails(k, n - k + 1, rate)[0]
