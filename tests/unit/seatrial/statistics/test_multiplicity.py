"""Adjusted values against statsmodels and scipy, and their procedures spelled out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from seatrial.statistics import benjamini_hochberg, e_benjamini_hochberg, holm

FAMILIES: list[list[float]] = [
    [0.03],
    [0.01, 0.04, 0.03, 0.005],
    [0.05] * 5,
    [0.0, 1.0, 0.5, 1e-300],
    [1.0, 1.0],
    [((7 * i) % 101) / 101 for i in range(100)],
    [0.001 * (i % 13) for i in range(60)],
]


@pytest.mark.parametrize("family", FAMILIES)
def test_holm_agrees_with_statsmodels(family: list[float]) -> None:
    assert holm(family) == pytest.approx(multipletests(family, method="holm")[1], abs=1e-15)


@pytest.mark.parametrize("family", FAMILIES)
def test_benjamini_hochberg_agrees_with_statsmodels_and_scipy(family: list[float]) -> None:
    adjusted = benjamini_hochberg(family)
    assert adjusted == pytest.approx(multipletests(family, method="fdr_bh")[1], abs=1e-15)
    assert adjusted == pytest.approx(false_discovery_control(family), abs=1e-15)


def _rejected_by_e_bh(e_values: Sequence[float], level: float) -> list[bool]:
    """The procedure as Wang and Ramdas state it: the k largest, for the largest k that bears it."""
    falling = sorted(e_values, reverse=True)
    number = len(e_values)
    most = max(
        (k for k in range(1, number + 1) if k * falling[k - 1] / number >= 1 / level), default=0
    )
    return [most > 0 and value >= falling[most - 1] for value in e_values]


@pytest.mark.parametrize("level", [0.011, 0.049, 0.12, 0.5])
def test_e_benjamini_hochberg_rejects_what_its_authors_do(level: float) -> None:
    for e_values in (
        [30.0, 0.2, 55.0, 8.0],
        [math.inf, 0.0, 1.0],
        [20.0] * 4,
        [0.5],
        [(i * 37 % 50) * 1.7 for i in range(50)],
    ):
        adjusted = e_benjamini_hochberg(e_values)
        assert [value <= level for value in adjusted] == _rejected_by_e_bh(e_values, level)


def test_a_family_without_tests_has_nothing_to_adjust() -> None:
    assert holm([]) == benjamini_hochberg([]) == e_benjamini_hochberg([]) == ()


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_is_no_p_value_is_named_with_its_place(adjust: Any) -> None:
    with pytest.raises(ValueError, match=r"p_values\[1\]=1\.2: expected a rate in \[0, 1\]"):
        adjust([0.1, 1.2])
    with pytest.raises(TypeError, match=r"p_values\[0\]=None"):
        adjust([None])


def test_what_is_no_e_value_is_named_with_its_place() -> None:
    for wrong in (-0.5, math.nan):
        with pytest.raises(ValueError, match=r"e_values\[1\]=.*: expected a number >= 0"):
            e_benjamini_hochberg([1.0, wrong])
    for wrong_kind in ("3", True, None):
        with pytest.raises(TypeError, match=r"e_values\[0\]=.*: expected a number >= 0"):
            e_benjamini_hochberg([wrong_kind])  # type: ignore[list-item]
