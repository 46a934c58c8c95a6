"""Spans of the running trial become its `Trace`, or the trace says why they could not.

The only package that touches OpenTelemetry, and it does so when the first trial traces: importing
this module loads none of it. A trial is traced from `open_trace` on; spans that its code starts, in
whatever task or thread has the trial's context, are kept until `close_trace`.

The application's own tracer provider is used if it set one before the first trial, and is never
replaced; set later, OpenTelemetry refuses it with a warning in its log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from seatrial.capture.collector import SpanCollector, unobserved
from seatrial.scope import TrialScope, current_scope
from seatrial.trace import Trace

if TYPE_CHECKING:
    from seatrial.capture.recording import RootSpan

__all__ = [
    "SpanCollector",
    "close_trace",
    "flush_trace",
    "open_trace",
    "read_trace",
    "record_span",
    "root_span",
    "unobserved",
]

_NEVER_OPENED = Trace(observed=False, missing="nothing was traced")
_CLOSED = Trace(observed=False, missing="the trial is over and its spans are freed")


def open_trace(scope: TrialScope) -> None:
    """Begin to keep the spans of the trial; nothing happens if that was begun already.

    Never raises for what the application did to OpenTelemetry: the trace then says that it could
    not observe, and why.
    """
    if scope.spans is not None:
        return
    collector = SpanCollector()
    scope.spans = collector
    from seatrial.capture import provider

    collector.blind = provider.attach()


def flush_trace(scope: TrialScope) -> None:
    """Make a provider that buffers hand over the spans that have ended, within 10 seconds.

    A provider that fails to is noted in the trace, and not asked again in this trial.
    """
    collector = scope.spans
    if collector is None or not collector.flush_due():
        return
    from seatrial.capture import provider

    failure = provider.flush()
    if failure is not None:
        collector.flush_failed(failure)


def read_trace(scope: TrialScope) -> Trace:
    """What was seen so far.

    Spans that are open now are part of it and noted as missing their end, except for those that
    enclose the caller and those that a fixture opened. After `close_trace`, nothing is left.
    """
    collector = scope.spans
    if collector is None:
        return _NEVER_OPENED
    if collector.closed:
        return _CLOSED
    from seatrial.capture import provider

    return collector.trace(enclosing=provider.current_span_id())


def close_trace(scope: TrialScope) -> Trace:
    """The final trace, in which all that is still open is noted, and the end of the tracing.

    Frees the trial's spans: later ones are ignored, and the trace can be read from what this
    returns only.
    """
    collector = scope.spans
    if collector is None:
        return _NEVER_OPENED
    if collector.closed:
        return _CLOSED
    flush_trace(scope)
    from seatrial.capture import provider

    final = collector.close()
    provider.forget(collector)
    return final


def root_span(scope: TrialScope, name: str, attributes: Mapping[str, object]) -> RootSpan:
    """Start the span that all of the trial's work belongs under; begins the tracing if need be."""
    open_trace(scope)
    from seatrial.capture import recording

    assert scope.spans is not None
    return recording.RootSpan(scope.spans, name, attributes)


@contextmanager
def record_span(name: str, attributes: Mapping[str, object]) -> Iterator[None]:
    """A span around the body, current in it; an exception marks it as failed and goes on.

    In a trial, its tracing is begun if need be. Outside of any, the span goes wherever the
    application's provider sends it.
    """
    from seatrial.capture import recording

    scope = current_scope()
    if scope is not None:
        open_trace(scope)
    with recording.current_span(name, attributes):
        yield
