"""Spans that we start: those of the recording functions, and the one around a trial's run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach, get_current
from opentelemetry.trace import Span, Status, StatusCode, format_span_id

from seatrial.capture import provider
from seatrial.capture.collector import SpanCollector
from seatrial.snapshot import snapshot

__all__ = ["RootSpan", "current_span"]

_TRACER = "seatrial"

_Scalar: TypeAlias = str | bool | int | float
_Attribute: TypeAlias = _Scalar | Sequence[str] | Sequence[bool] | Sequence[int] | Sequence[float]


def current_span(name: str, attributes: Mapping[str, object]) -> AbstractContextManager[Span]:
    """A span that is current in the body and ends with it; an exception marks it as failed."""
    return trace.get_tracer(_TRACER).start_as_current_span(name, attributes=_encoded(attributes))


class RootSpan:
    """A span with no parent, whatever is current, that may be entered more than once."""

    def __init__(
        self, collector: SpanCollector, name: str, attributes: Mapping[str, object]
    ) -> None:
        self._span = _start(_tracer(), name, attributes)
        if collector.blind is None and not self._seen_by(collector):
            # A provider that was reconfigured since the last trial lost our processor.
            self._span.end()
            collector.blind = provider.reattach()
            self._span = _start(_tracer(again=True), name, attributes)
            if collector.blind is None and not self._seen_by(collector):
                collector.blind = (
                    "the application's tracer provider did not record the trial's span; "
                    "its sampler may have dropped it"
                )

    def _seen_by(self, collector: SpanCollector) -> bool:
        return collector.knows(format_span_id(self._span.get_span_context().span_id))

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make the span the parent of spans that start in the body; an exception marks it."""
        context = trace.set_span_in_context(self._span, Context())
        token = attach(context)
        try:
            yield
        except GeneratorExit:
            # A coroutine that is dropped half-way may be closed in another context, where the
            # token means nothing.
            if get_current() is context:
                detach(token)
            raise
        except BaseException as error:
            detach(token)
            self._failed(error)
            raise
        else:
            detach(token)

    def _failed(self, error: BaseException) -> None:
        # The snapshot, since a foreign exception's own text may raise.
        self._span.set_status(Status(StatusCode.ERROR, str(snapshot(error))))

    def end(self) -> None:
        """End the span."""
        self._span.end()


_known_tracer: tuple[object, trace.Tracer] | None = None


def _tracer(*, again: bool = False) -> trace.Tracer:
    """The current provider's tracer, asked for once: providers take their time to make one."""
    global _known_tracer  # noqa: PLW0603 - as global as the provider
    current = trace.get_tracer_provider()
    if _known_tracer is None or _known_tracer[0] is not current or again:
        _known_tracer = (current, trace.get_tracer(_TRACER))
    return _known_tracer[1]


def _start(tracer: trace.Tracer, name: str, attributes: Mapping[str, object]) -> Span:
    return tracer.start_span(name, context=Context(), attributes=_encoded(attributes))


def _encoded(attributes: Mapping[str, object]) -> dict[str, _Attribute]:
    """Values as OpenTelemetry takes them: what is neither scalar nor text becomes JSON text."""
    return {
        name: value if isinstance(value, (str, bool, int, float)) else json.dumps(snapshot(value))
        for name, value in attributes.items()
        if value is not None
    }
