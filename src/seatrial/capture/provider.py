"""Where spans come from: our processor on the application's tracer provider, or on our own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace import Span as SdkSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from seatrial.capture.collector import SpanCollector, is_observed
from seatrial.capture.conversion import convert
from seatrial.scope import current_scope
from seatrial.text import one_line

__all__ = [
    "ReadableSpan",
    "SpanExportResult",
    "SpanExporter",
    "attach",
    "current_span_id",
    "export_to",
    "flush",
    "forget",
    "reattach",
]

_FLUSH_BUDGET_MS = 10_000


class _Router(SpanProcessor):
    """Hands each span to the trial that is running where the span starts.

    Where none is, as in a thread that was given only OpenTelemetry's context, the span follows
    its parent, also one whose end has come already.
    """

    def __init__(self) -> None:
        self._owners: dict[str, SpanCollector] = {}

    def on_start(self, span: SdkSpan, parent_context: Context | None = None) -> None:
        if not is_observed():
            return
        scope = current_scope()
        collector = scope.spans if scope is not None else None
        if collector is None and span.parent is not None:
            collector = self._owners.get(trace.format_span_id(span.parent.span_id))
        if collector is None:
            return
        span_id = _span_id(span)
        by_fixture = scope is not None and scope.phase == "setup"
        if collector.started(span_id, lambda: convert(span), by_fixture=by_fixture):
            self._owners[span_id] = collector

    def on_end(self, span: ReadableSpan) -> None:
        collector = self._owners.get(_span_id(span))
        if collector is not None:
            collector.ended(convert(span))

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Nothing is held back. OpenTelemetry 1.27's own answer, None, counts as a failed flush."""
        return True

    def forget(self, collector: SpanCollector) -> None:
        """Drop all that is known of a trial that is over."""
        for span_id, owner in list(self._owners.items()):
            if owner is collector:
                self._owners.pop(span_id, None)


def _span_id(span: ReadableSpan) -> str:
    context = span.get_span_context()
    return trace.format_span_id(context.span_id) if context else ""


_router = _Router()
_lock = threading.Lock()
_attached_to: object = None


def attach() -> str | None:
    """See to it that spans reach us; the reason if they cannot.

    Asked at every trial, because an application may set its provider at any time.
    """
    with _lock:
        return _attach(_router, again=False)


def reattach() -> str | None:
    """Attach even to a provider that knows us: one that is reconfigured forgets."""
    with _lock:
        return _attach(_router, again=True)


def _attach(processor: SpanProcessor, *, again: bool) -> str | None:
    global _attached_to  # noqa: PLW0603 - as global as the provider that it names
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return "OTEL_SDK_DISABLED is true, so OpenTelemetry records no span"
    provider = _provider()
    if isinstance(provider, str):
        return provider
    if provider is _attached_to and not again:
        return None
    failure = _add(provider, processor)
    if failure is None:
        _attached_to = provider
    return failure


def _provider() -> object:
    """The global provider, ours if nobody set one; or, as text, why there is none."""
    try:
        provider = trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider):
            trace.set_tracer_provider(TracerProvider(sampler=ALWAYS_ON, shutdown_on_exit=False))
            provider = trace.get_tracer_provider()
    except Exception as error:  # noqa: BLE001 - foreign code: the provider may come from a plugin
        return f"the tracer provider cannot be loaded: {_told(error)}"
    return provider


def _add(provider: object, processor: SpanProcessor) -> str | None:
    add: Callable[[SpanProcessor], None] | None = getattr(provider, "add_span_processor", None)
    if not callable(add):
        return f"the application's tracer provider ({type(provider).__name__}) takes no span processors"
    try:
        add(processor)
    except Exception as error:  # noqa: BLE001 - foreign code; the trace says that it could not observe
        return f"the application's tracer provider took no span processor: {_told(error)}"
    return None


def export_to(exporter: SpanExporter) -> str | None:
    """Send each span of the process to the exporter as it ends; the reason if that cannot be."""
    with _lock:
        provider = _provider()
        if isinstance(provider, str):
            return provider
        return _add(provider, SimpleSpanProcessor(exporter))


def flush() -> str | None:
    """Flush the provider that we are attached to; the reason if spans may be left in it."""
    flush_provider = getattr(_attached_to, "force_flush", None)
    if not callable(flush_provider):
        return None
    try:
        try:
            flushed = flush_provider(timeout_millis=_FLUSH_BUDGET_MS)
        except TypeError:  # a provider of its own make, without the argument
            flushed = flush_provider()
    except Exception as error:  # noqa: BLE001 - foreign code: exporters fail in any way; noted in the trace
        return f"flushing the tracer provider failed: {_told(error)}"
    if flushed is False:
        return f"the tracer provider did not flush within {_FLUSH_BUDGET_MS // 1000} s"
    return None


def forget(collector: SpanCollector) -> None:
    """Free what is held for a trial that is over."""
    _router.forget(collector)


def current_span_id() -> str | None:
    """The span that the caller is in, if any."""
    context = trace.get_current_span().get_span_context()
    return trace.format_span_id(context.span_id) if context.is_valid else None


def _told(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}", limit=300)
