"""The limit of an endpoint stays sensible whatever happens, in whatever order."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from seatrial.models.endpoint_limit import (
    LONGEST_PAUSE_S,
    STATE_BYTES,
    EndpointState,
    parse,
    pause_s,
)

times = st.floats(0, 4e9)
waits = st.none() | st.floats()
limits = st.none() | st.integers(1, 64)
# A refusal with its Retry-After, or an answer; and how many shrinks ago the attempt started.
events = st.lists(st.tuples(st.booleans(), waits, st.integers(0, 2)), max_size=80)


@given(most=st.integers(1, 64), happened=events, now=times)
def test_the_limit_stays_in_its_range_and_moves_by_the_rule(
    most: int, happened: list[tuple[bool, float | None, int]], now: float
) -> None:
    state = EndpointState()
    for is_refusal, retry_after_s, ago in happened:
        before, under = state, max(0, state.shrinks - ago)
        limit = before.limit_of(most)
        if is_refusal:
            state = before.refused(
                under=under, retry_after_s=retry_after_s, most_at_once=most, now=now
            )
            halves = under == before.shrinks
            assert state.limit_of(most) == (max(1, limit // 2) if halves else limit)
            assert state.shrinks == before.shrinks + halves
            assert before.not_before <= state.not_before or before.not_before == 0.0
        else:
            state = before.answered(under=under, most_at_once=most, now=now)
            assert state.limit_of(most) in (limit, limit + 1)
            assert state.not_before == before.not_before
        assert 1 <= state.limit_of(most) <= most
        assert state.answers < state.limit_of(most)
        assert parse(state.serialize()) == state


@given(limit=st.integers(1, 40), grown=st.integers(1, 5))
def test_growing_by_one_takes_as_many_answers_as_the_limit(limit: int, grown: int) -> None:
    state = EndpointState(limit=limit)
    for _ in range(sum(range(limit, limit + grown))):
        state = state.answered(under=0, most_at_once=64, now=1.0)
    assert (state.limit, state.answers) == (limit + grown, 0)


@given(asked=waits)
def test_a_pause_is_never_negative_or_longer_than_allowed(asked: float | None) -> None:
    assert 0 <= pause_s(asked) <= LONGEST_PAUSE_S


@given(content=st.binary(max_size=STATE_BYTES) | st.text(max_size=60).map(str.encode), now=times)
def test_any_bytes_are_a_state_under_which_nobody_waits_for_long(
    content: bytes, now: float
) -> None:
    assert parse(content).current(now).not_before - now <= LONGEST_PAUSE_S + 2


@given(
    limit=limits,
    changed_at=times,
    pause=st.floats(-1e9, LONGEST_PAUSE_S),
    next_start=times,
    now=times,
    interval_s=st.floats(1e-4, 100),
    most=st.integers(1, 64),
)
def test_a_clock_may_jump_anywhere_and_every_wait_stays_bounded(
    limit: int | None,
    changed_at: float,
    pause: float,
    next_start: float,
    now: float,
    interval_s: float,
    most: int,
) -> None:
    stored = EndpointState(
        limit=limit, not_before=changed_at + pause, next_start=next_start, changed_at=changed_at
    )
    state = parse(stored.serialize()).current(now)
    assert state.not_before - now <= LONGEST_PAUSE_S + 2
    start, _ = state.reserve(interval_s=interval_s, most_at_once=most, now=now)
    assert 0 <= start - now <= most * interval_s + 1.001


@given(arrivals=st.lists(st.floats(0, 50), min_size=2, max_size=20), interval_s=st.floats(0.01, 5))
def test_no_two_starts_are_closer_than_the_rate_allows(
    arrivals: list[float], interval_s: float
) -> None:
    state, starts = EndpointState(), []
    for arrival in sorted(arrivals):
        start, state = state.reserve(interval_s=interval_s, most_at_once=64, now=arrival)
        starts.append(start)
    assert all(
        later - earlier >= interval_s - 1e-9 for earlier, later in itertools.pairwise(starts)
    )
