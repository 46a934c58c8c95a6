"""Many tests at once: p-values and e-values adjusted for their number.

Each function takes one value per test and gives, in the same order, the smallest level at which its
procedure rejects that test: compare it with the level, as one would a p-value of a single test.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seatrial.statistics.arguments import checked_rate, number

__all__ = ["benjamini_hochberg", "e_benjamini_hochberg", "holm"]


def holm(p_values: Iterable[float]) -> tuple[float, ...]:
    """Adjusted to bound the chance of even one false rejection, whatever the tests' dependence.

    Raises:
        TypeError: If a p-value is no number.
        ValueError: If one is outside [0, 1].

    Source: Holm (1979), Scand. J. Stat. 6:65-70. Oracle in tests: statsmodels.
    """
    values = _checked_p_values(p_values)
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = largest
    return tuple(adjusted)


def benjamini_hochberg(p_values: Iterable[float]) -> tuple[float, ...]:
    """Adjusted to bound the expected share of false ones among the rejections.

    Holds for independent tests, and for those that depend on each other positively (Benjamini and
    Yekutieli 2001). Raises what `holm` raises.

    Source: Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57:289-300. Oracle in tests:
    statsmodels and scipy.
    """
    return _stepped_up(_checked_p_values(p_values))


def e_benjamini_hochberg(e_values: Iterable[float]) -> tuple[float, ...]:
    """As `benjamini_hochberg`, from e-values, whatever the tests' dependence.

    An e-value is evidence whose mean is at most 1 under its null hypothesis, such as what a test
    that may be looked at after every trial gathers; infinity is allowed.

    Raises:
        TypeError: If an e-value is no number.
        ValueError: If one is negative or not a number.

    Source: Wang and Ramdas (2022), J. R. Stat. Soc. B 84:822-852: the procedure of Benjamini and
    Hochberg on the inverses.
    """
    inverses = []
    for place, value in enumerate(e_values):
        name, expected = f"e_values[{place}]", "a number >= 0"
        evidence = number(name, value, expected)
        if not evidence >= 0.0:
            raise ValueError(f"{name}={value!r}: expected {expected}")
        inverses.append(1.0 / max(1.0, evidence))
    return _stepped_up(inverses)


def _checked_p_values(p_values: Iterable[float]) -> list[float]:
    return [checked_rate(f"p_values[{place}]", value) for place, value in enumerate(p_values)]


def _stepped_up(values: Sequence[float]) -> tuple[float, ...]:
    adjusted = [1.0] * len(values)
    smallest = 1.0
    order = sorted(range(len(values)), key=values.__getitem__)
    for rank in range(len(values), 0, -1):
        place = order[rank - 1]
        smallest = min(smallest, len(values) / rank * values[place])
        adjusted[place] = smallest
    return tuple(adjusted)
