"""What refusals and answers teach, and for how long."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from seatrial.models.endpoint_limit import (
    FORGOTTEN_S,
    LONGEST_PAUSE_S,
    SHORTEST_PAUSE_S,
    STATE_BYTES,
    EndpointState,
    parse,
    pause_s,
)

NOW = 1_800_000_000.0
LEARNED = EndpointState(limit=8, answers=3, shrinks=2, not_before=NOW + 5, changed_at=NOW)


def refused(state: EndpointState, under: int, *, most: int = 32) -> EndpointState:
    return state.refused(under=under, retry_after_s=None, most_at_once=most, now=NOW)


def test_the_first_refusal_halves_what_the_caller_allows_itself() -> None:
    state = refused(EndpointState(), under=0)
    assert (state.limit, state.shrinks, state.answers) == (16, 1, 0)
    assert state.not_before == NOW + SHORTEST_PAUSE_S


def test_refusals_of_attempts_that_were_in_flight_together_halve_once() -> None:
    state = refused(refused(refused(EndpointState(), under=0), under=0), under=0)
    assert (state.limit, state.shrinks) == (16, 1)
    assert refused(state, under=1).limit == 8


def test_the_limit_never_falls_below_one() -> None:
    assert refused(EndpointState(limit=1), under=0).limit == 1
    assert refused(EndpointState(), under=0, most=1).limit == 1


def test_as_many_answers_as_the_limit_add_one() -> None:
    state = EndpointState(limit=2)
    for expected in (2, 3, 3, 3, 4):
        state = state.answered(under=0, most_at_once=32, now=NOW)
        assert state.limit == expected


def test_answers_to_attempts_from_before_the_shrink_do_not_count() -> None:
    assert LEARNED.answered(under=1, most_at_once=32, now=NOW) == LEARNED


def test_a_caller_that_allows_itself_less_neither_grows_nor_lowers_the_limit_of_others() -> None:
    assert LEARNED.answered(under=2, most_at_once=8, now=NOW) == LEARNED
    assert LEARNED.limit_of(4) == 4
    assert LEARNED.limit_of(32) == 8


@pytest.mark.parametrize(
    ("asked", "waited"),
    [
        (None, SHORTEST_PAUSE_S),
        (float("nan"), SHORTEST_PAUSE_S),
        (0.0, 0.0),
        (-5.0, 0.0),
        (7.5, 7.5),
        (3600.0, LONGEST_PAUSE_S),
        (float("inf"), LONGEST_PAUSE_S),
    ],
)
def test_what_the_endpoint_asks_to_wait_counts_within_reason(
    asked: float | None, waited: float
) -> None:
    assert pause_s(asked) == waited


def test_a_refusal_never_shortens_the_wait_of_another() -> None:
    state = LEARNED.refused(under=2, retry_after_s=1, most_at_once=32, now=NOW)
    assert state.not_before == NOW + 5


def test_a_limit_that_nobody_met_for_long_is_forgotten() -> None:
    assert LEARNED.current(NOW + FORGOTTEN_S) == LEARNED
    forgotten = LEARNED.current(NOW + FORGOTTEN_S + 1)
    assert forgotten == replace(LEARNED, limit=None, answers=0, not_before=0.0)


def test_a_clock_that_was_set_back_makes_nobody_wait() -> None:
    assert LEARNED.current(NOW - 0.5) == LEARNED
    assert LEARNED.current(NOW - 3600).not_before == 0.0
    reserved = EndpointState(next_start=NOW)
    assert reserved.reserve(interval_s=1, most_at_once=4, now=NOW - 3600)[0] == NOW - 3600
    assert reserved.reserve(interval_s=1, most_at_once=4, now=NOW - 4)[0] == NOW


def test_starts_are_spaced_and_a_pause_saves_up_none() -> None:
    first, state = EndpointState().reserve(interval_s=2, most_at_once=4, now=NOW)
    second, state = state.reserve(interval_s=2, most_at_once=4, now=NOW)
    late, state = state.reserve(interval_s=2, most_at_once=4, now=NOW + 100)
    next_to_late, _ = state.reserve(interval_s=2, most_at_once=4, now=NOW + 100)
    assert (first, second, late, next_to_late) == (NOW, NOW + 2, NOW + 100, NOW + 102)


def test_a_stored_state_comes_back_and_has_one_length() -> None:
    assert parse(LEARNED.serialize()) == LEARNED
    assert len(LEARNED.serialize()) == len(EndpointState().serialize()) == STATE_BYTES


@pytest.mark.parametrize(
    "change",
    [
        {"limit": 0},
        {"limit": True},
        {"limit": "8"},
        {"limit": 1.5},
        {"answers": -1},
        {"shrinks": None},
        {"next_start": float("inf")},
        {"changed_at": float("nan")},
        {"not_before": "soon"},
        {"not_before": NOW + 3600},
        {"unknown": 1},
    ],
)
def test_a_stored_state_that_cannot_be_ours_counts_as_none(change: dict[str, object]) -> None:
    content = json.dumps({**asdict(LEARNED), **change}).encode()
    assert parse(content) == EndpointState()
