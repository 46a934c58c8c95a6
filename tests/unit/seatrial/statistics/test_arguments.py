"""What counts as a number here, and the words that refuse the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seatrial.statistics.arguments import (
    checked_counts,
    checked_open_rate,
    checked_rate,
    checked_side,
    whole,
)


def test_whole_numbers_of_other_libraries_become_plain_ones() -> None:
    number = whole("n", np.int64(7))
    assert number == 7
    assert type(number) is int


def test_counts_may_start_from_no_trial_where_the_caller_allows_it() -> None:
    assert checked_counts(0, 0, least=0) == (0, 0)
    with pytest.raises(ValueError, match=r"n=0: expected a whole number >= 1"):
        checked_counts(0, 0)


def test_a_closed_rate_takes_its_ends_and_an_open_one_does_not() -> None:
    assert checked_rate("rate", 0) == 0.0
    assert checked_rate("rate", np.float32(1)) == 1.0
    with pytest.raises(ValueError, match=r"rate=0: expected a number strictly between 0 and 1"):
        checked_open_rate("rate", 0)


@pytest.mark.parametrize("value", [-1e-12, 1.0001, float("nan"), 90])
def test_a_rate_out_of_range_is_named_with_its_value(value: float) -> None:
    with pytest.raises(ValueError, match=rf"threshold={value!r}: expected a rate in \[0, 1\]"):
        checked_rate("threshold", value)


@pytest.mark.parametrize("value", ["90%", b"1", None, True, 1j, [0.5]])
def test_what_is_no_number_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match="threshold="):
        checked_rate("threshold", value)


def test_a_word_outside_the_list_is_answered_with_the_list() -> None:
    checked_side("upper")
    with pytest.raises(ValueError, match=r"alternative='more': expected one of 'less', 'greater'"):
        checked_side("more", ("less", "greater"), name="alternative")
