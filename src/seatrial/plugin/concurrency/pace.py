"""When the next trial may start: not all at once, and not more often than asked for."""

from __future__ import annotations

import time

__all__ = ["Pace"]

RAMP_S = 0.002
"""Seconds between the starts of the first trials: 200 of them spread over 0.4 s."""


class Pace:
    """Spreads starts over time.

    The first `concurrency` trials of a session start one after another; later ones start as earlier
    ones end, which spreads them already.
    """

    def __init__(self, concurrency: int, rate_per_s: float | None) -> None:
        self._ramp_left = concurrency
        self._interval_s = 0.0 if rate_per_s is None else 1.0 / rate_per_s
        self._next = 0.0

    def due(self) -> float:
        """When the next trial may start, on the monotonic clock; in the past if now."""
        return self._next

    def started(self) -> None:
        """Note that a trial starts now."""
        now = time.monotonic()
        interval = self._interval_s
        if self._ramp_left > 0:
            self._ramp_left -= 1
            interval = max(interval, RAMP_S)
        # From when it was due, so that a late start does not lower the rate; but no bursts either.
        self._next = max(self._next, now - interval) + interval
