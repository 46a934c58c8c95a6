"""How many attempts at an endpoint may be in flight: a limit that the endpoint's refusals teach.

Additive increase, multiplicative decrease: a refusal for overload halves the limit, and every
`limit` answers add one again (Chiu and Jain 1989, Computer Networks 17:1-14). All is pure; times
are seconds since the epoch, since the processes that share a limit share no other clock.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace

__all__ = [
    "FORGOTTEN_S",
    "LONGEST_PAUSE_S",
    "SHORTEST_PAUSE_S",
    "STATE_BYTES",
    "EndpointState",
    "parse",
    "pause_s",
]

LONGEST_PAUSE_S = 60.0
"""What is waited at most after a refusal, whatever the endpoint asks for."""

SHORTEST_PAUSE_S = 0.5
"""What is waited after a refusal that asks for nothing."""

FORGOTTEN_S = 300.0
"""A limit that nobody met for so long says nothing of the endpoint today."""

STATE_BYTES = 256
"""Length of a stored state; always the same, so that a shorter one leaves no rest of a longer."""

_CLOCK_SLACK_S = 1.0  # a clock that is being adjusted goes back by less than this


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointState:
    """What the callers of an endpoint share.

    Attributes:
        limit: Attempts in flight that are allowed, from 1; None if nothing limits them but the
            caller's own maximum.
        answers: Answers since the limit changed.
        shrinks: How often the limit shrank. An attempt remembers the number it started under, so
            that neither answers nor refusals from before a shrink count after it.
        not_before: When attempts may start again.
        next_start: When the next attempt may start, where starts are spaced.
        changed_at: When a refusal or an answer last changed this.
    """

    limit: int | None = None
    answers: int = 0
    shrinks: int = 0
    not_before: float = 0.0
    next_start: float = 0.0
    changed_at: float = 0.0

    def current(self, now: float) -> EndpointState:
        """What still holds: all, unless it is forgotten or was written by another clock."""
        if -_CLOCK_SLACK_S <= now - self.changed_at <= FORGOTTEN_S:
            return self
        return replace(self, limit=None, answers=0, not_before=0.0)

    def limit_of(self, most_at_once: int) -> int:
        """The limit for a caller that allows itself `most_at_once`."""
        return most_at_once if self.limit is None else min(self.limit, most_at_once)

    def refused(
        self, *, under: int, retry_after_s: float | None, most_at_once: int, now: float
    ) -> EndpointState:
        """After the endpoint refused an attempt for overload.

        Args:
            under: `shrinks` when the attempt started; the limit halves once for all attempts
                that were in flight together.
            retry_after_s: What the endpoint asked to wait, if it did.
            most_at_once: What the caller allows itself.
        """
        paused = replace(
            self, not_before=max(self.not_before, now + pause_s(retry_after_s)), changed_at=now
        )
        if under != self.shrinks:
            return paused
        limit = max(1, self.limit_of(most_at_once) // 2)
        return replace(paused, limit=limit, answers=0, shrinks=self.shrinks + 1)

    def answered(self, *, under: int, most_at_once: int, now: float) -> EndpointState:
        """After an attempt that the endpoint did not refuse; arguments as for `refused`."""
        if self.limit is None or self.limit >= most_at_once or under != self.shrinks:
            return self
        if self.answers + 1 < self.limit:
            return replace(self, answers=self.answers + 1, changed_at=now)
        return replace(self, limit=self.limit + 1, answers=0, changed_at=now)

    def reserve(
        self, *, interval_s: float, most_at_once: int, now: float
    ) -> tuple[float, EndpointState]:
        """When the next attempt may start, `interval_s` after the one before, and the state then."""
        start = max(now, self.next_start)
        # No more than `most_at_once` wait for their start, so this was written by another clock.
        if start - now > most_at_once * interval_s + _CLOCK_SLACK_S:
            start = now
        return start, replace(self, next_start=start + interval_s)

    def serialize(self) -> bytes:
        """`STATE_BYTES` bytes that `parse` reads."""
        return json.dumps(asdict(self)).encode().ljust(STATE_BYTES)


def pause_s(retry_after_s: float | None) -> float:
    """Seconds to wait after a refusal; what is asked for counts as far as it makes sense."""
    if retry_after_s is None or math.isnan(retry_after_s):
        return SHORTEST_PAUSE_S
    return min(max(0.0, retry_after_s), LONGEST_PAUSE_S)


def parse(content: bytes) -> EndpointState:
    """The state that was stored; a fresh one if there is none or it is damaged."""
    try:
        state = EndpointState(**json.loads(content))
    except (ValueError, TypeError):
        return EndpointState()
    return state if _is_sound(state) else EndpointState()


def _is_sound(state: EndpointState) -> bool:
    counts = (state.answers, state.shrinks)
    times = (state.not_before, state.next_start, state.changed_at)
    return (
        (state.limit is None or (type(state.limit) is int and state.limit >= 1))
        and all(type(count) is int and count >= 0 for count in counts)
        and all(type(time) is float and math.isfinite(time) for time in times)
        and state.not_before <= state.changed_at + LONGEST_PAUSE_S + _CLOCK_SLACK_S
    )
