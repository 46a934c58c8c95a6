"""The spans of one trial while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from seatrial.text import one_line
from seatrial.trace import Span, Trace

__all__ = ["MAX_SPANS", "SpanCollector", "is_observed", "unobserved"]

MAX_SPANS = 10_000
"""Spans that one trial keeps; more are counted and noted."""

_observed: ContextVar[bool] = ContextVar("seatrial_observed", default=True)


def is_observed() -> bool:
    """False inside `unobserved`."""
    return _observed.get()


@contextmanager
def unobserved() -> Iterator[None]:
    """Keep spans that start in the body out of the trial's trace: they are not the agent's.

    For judges and simulators, whose model calls an instrumented client would report too.
    """
    token = _observed.set(False)
    try:
        yield
    finally:
        _observed.reset(token)


class SpanCollector:
    """Gathers spans from any thread.

    Attributes:
        blind: Why no span can arrive; None while they can.
        closed: Whether the trial is over; spans are then ignored.
    """

    def __init__(self) -> None:
        self.blind: str | None = None
        self.closed = False
        self._lock = threading.Lock()
        self._open: dict[str, _OpenSpan] = {}
        self._ended: dict[str, Span] = {}
        self._dropped = 0
        self._flushed = 0
        self._flush_failure: str | None = None

    def started(self, span_id: str, read: Callable[[], Span], *, by_fixture: bool) -> bool:
        """Note a span that began.

        Args:
            span_id: The span, as 16 hexadecimal digits.
            read: Gives the span as it is now.
            by_fixture: Whether it began in the trial's set-up; it may then outlive the trial.

        Returns:
            Whether the span is kept; False for one that is known, too many, or too late.
        """
        with self._lock:
            if self.closed or span_id in self._open or span_id in self._ended:
                return False
            if len(self._open) + len(self._ended) >= MAX_SPANS:
                self._dropped += 1
                return False
            self._open[span_id] = _OpenSpan(read, by_fixture)
            return True

    def ended(self, span: Span) -> None:
        """Keep a span that `started` accepted and that is complete now."""
        with self._lock:
            if not self.closed and self._open.pop(span.span_id, None) is not None:
                self._ended[span.span_id] = span

    def knows(self, span_id: str) -> bool:
        """Whether the span is among those kept."""
        with self._lock:
            return span_id in self._open or span_id in self._ended

    def flush_due(self) -> bool:
        """Whether spans have ended since this was last asked, and no flush has failed."""
        with self._lock:
            due = len(self._ended) > self._flushed or not self._ended
            self._flushed = len(self._ended)
            return due and not self.closed and self._flush_failure is None

    def flush_failed(self, reason: str) -> None:
        """Note that spans may be left in the provider."""
        self._flush_failure = reason

    def trace(self, *, enclosing: str | None = None) -> Trace:
        """What was seen so far.

        Args:
            enclosing: The span that the caller is in. It and those around it cannot have ended,
                and are not noted.
        """
        with self._lock:
            still_open = {span_id: entry.read() for span_id, entry in self._open.items()}
            expected = {span_id for span_id, entry in self._open.items() if entry.by_fixture}
            spans = sorted(
                (*self._ended.values(), *still_open.values()), key=lambda s: s.start_ns or 0
            )
        while enclosing in still_open and enclosing not in expected:
            expected.add(enclosing)
            enclosing = still_open[enclosing].parent_span_id
        unfinished = [span.name for span in still_open.values() if span.span_id not in expected]
        return Trace(
            spans=tuple(spans),
            missing=self._missing(unfinished),
            observed=self.blind is None or bool(spans),
        )

    def close(self) -> Trace:
        """The final trace; the spans are freed, and later ones are ignored."""
        final = self.trace()
        with self._lock:
            self.closed = True
            self._open.clear()
            self._ended.clear()
        return final

    def _missing(self, unfinished: list[str]) -> str | None:
        reasons = [reason for reason in (self.blind, self._flush_failure) if reason is not None]
        if unfinished:
            names = one_line(", ".join(unfinished[:5]), limit=200)
            more = f" and {len(unfinished) - 5} more" if len(unfinished) > 5 else ""
            reasons.append(f"spans had not ended: {names}{more}")
        if self._dropped:
            reasons.append(f"{self._dropped} spans beyond the first {MAX_SPANS} were dropped")
        return "; ".join(reasons) or None


class _OpenSpan:
    __slots__ = ("by_fixture", "read")

    def __init__(self, read: Callable[[], Span], by_fixture: bool) -> None:
        self.read = read
        self.by_fixture = by_fixture
