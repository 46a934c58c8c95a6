"""When the next trial may start: not all at once, and not more often than asked for."""

from __future__ import annotations

import time
from collections.abc import Generator

import pytest

from seatrial.plugin.keys import plan_key

__all__ = ["Pace", "PacedTrials"]

RAMP_S = 0.002
"""Seconds between the starts of the first trials: 200 of them spread over 0.4 s."""


class Pace:
    """Spreads starts over time.

    The first `concurrency` trials of a session start one after another; later ones start as earlier
    ones end, which spreads them already.
    """

    def __init__(self, concurrency: int, rate_per_s: float | None) -> None:
        """Allow `rate_per_s` starts per second, None for any number."""
        self._ramp_left = concurrency - 1
        self._interval_s = 0.0 if rate_per_s is None else 1.0 / rate_per_s
        self._due = 0.0

    def due(self) -> float:
        """When the next trial may start, in seconds on the clock that `started` is told."""
        return self._due

    def started(self, now: float) -> None:
        """Note that a trial starts at `now`, which is not before `due`."""
        interval = self._interval_s
        if self._ramp_left > 0:
            self._ramp_left -= 1
            interval = max(interval, RAMP_S)
        # A start that is late by less than an interval does not delay those after it; one that is
        # late by more is not made up for, so there are no bursts.
        self._due = max(self._due, now - interval) + interval


class PacedTrials:
    """Registered where trials run one at a time and their rate is limited."""

    def __init__(self, rate_per_s: float) -> None:
        """Start trials at that rate."""
        self._pace = Pace(1, rate_per_s)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Wait until the trial may start."""
        if plan_key in item.stash:
            time.sleep(max(0.0, self._pace.due() - time.monotonic()))
            self._pace.started(time.monotonic())
        return (yield)
