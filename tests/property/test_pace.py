from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from seatrial.plugin.pace import RAMP_S, Pace

rates = st.floats(0.01, 1000)
delays = st.lists(st.floats(0, 10), min_size=2, max_size=50)


def starts(pace: Pace, delays: list[float]) -> list[float]:
    """When trials start that are each ready some time after the one before started."""
    times, now = [], 0.0
    for delay in delays:
        now = max(now + delay, pace.due())
        pace.started(now)
        times.append(now)
    return times


@given(rate=rates, delays=delays, concurrency=st.integers(1, 50))
def test_no_more_trials_start_in_any_time_than_the_rate_allows(
    rate: float, delays: list[float], concurrency: int
) -> None:
    times = starts(Pace(concurrency, rate), delays)
    for first, begun in enumerate(times):
        for count, ended in enumerate(times[first:], start=1):
            # One more than the rate: both ends are part of the time; and one that was late.
            assert count <= (ended - begun) * rate + 2 + 1e-6


@given(delays=delays)
def test_without_a_rate_nobody_waits_but_for_the_first_ones(delays: list[float]) -> None:
    pace = Pace(3, None)
    times = starts(pace, delays)
    ready = [0.0, *times[:-1]]
    late = [
        start - (before + delay) for start, before, delay in zip(times, ready, delays, strict=True)
    ]
    assert all(wait <= RAMP_S + 1e-9 for wait in late)
    assert all(wait <= 1e-9 for wait in late[4:])


@given(concurrency=st.integers(2, 300))
def test_the_first_trials_start_one_after_another(concurrency: int) -> None:
    times = starts(Pace(concurrency, None), [0.0] * (concurrency + 5))
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert all(abs(gap - RAMP_S) < 1e-9 for gap in gaps[: concurrency - 1])
    assert all(gap == 0 for gap in gaps[concurrency:])
