"""What a panel's votes amount to, whatever they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.errors import ModelConfigurationError
from seatrial.panel import Panel, Rule

_RULES: list[Rule] = ["majority", "unanimous", "any"]
_VOTES = st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=9)


@given(st.sampled_from(_RULES), _VOTES)
def test_the_order_of_votes_decides_nothing(rule: Rule, votes: list[bool | None]) -> None:
    panel = Panel(rule=rule)
    assert panel.decide(votes) is panel.decide(votes[::-1])


@given(st.sampled_from(_RULES), st.sampled_from([True, False, None]), st.integers(1, 9))
def test_votes_that_agree_are_the_answer(rule: Rule, vote: bool | None, seats: int) -> None:
    assert Panel(rule=rule).decide([vote] * seats) is vote


@given(_VOTES)
def test_a_majority_is_more_than_half_of_all_seats(votes: list[bool | None]) -> None:
    decided = Panel(rule="majority").decide(votes)
    assert (decided is None) == all(2 * votes.count(v) <= len(votes) for v in (True, False))


@given(_VOTES)
def test_any_and_unanimous_mirror_each_other(votes: list[bool | None]) -> None:
    flipped = [None if vote is None else not vote for vote in votes]
    unanimous, other = Panel(rule="unanimous").decide(votes), Panel(rule="any").decide(flipped)
    assert unanimous is (None if other is None else not other)


@given(_VOTES)
def test_who_cannot_tell_never_makes_an_answer(votes: list[bool | None]) -> None:
    for rule in _RULES:
        decided = Panel(rule=rule).decide([*votes, None])
        assert decided is None or decided in votes


def test_each_model_has_a_seat_for_every_sample() -> None:
    panel = Panel(models=("openai:a", "anthropic:b"), samples=2)
    seats = [(seat.model, seat.sample) for seat in panel.seats]
    assert seats == [("openai:a", 1), ("openai:a", 2), ("anthropic:b", 1), ("anthropic:b", 2)]
    assert [(seat.model, seat.sample) for seat in Panel().seats] == [(None, 1)]


@pytest.mark.parametrize("samples", [0, -1, 1.5, True, 102, "3"])
def test_a_panel_without_a_sensible_number_of_seats_is_refused(samples: object) -> None:
    with pytest.raises(ModelConfigurationError, match=r"samples=.* of a panel"):
        Panel(samples=samples)  # type: ignore[arg-type]


def test_an_unknown_rule_is_refused_with_those_there_are() -> None:
    with pytest.raises(ModelConfigurationError, match="majority, unanimous, any"):
        Panel(rule="most")  # type: ignore[arg-type]
