"""What an agent was seen to do in one trial: spans, and the tool calls and model turns in them.

"Not observed" is a value here: a trace that could not be collected says so, and is never an empty
one that looks like an agent that did nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.snapshot import JsonObject

__all__ = ["Span", "Trace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One finished span, as OpenTelemetry saw it.

    Attributes:
        kind: "llm", "tool", or what the span says of itself; "span" if it says nothing.
        tool_name: Name of the tool, on spans that are tool calls.
        start_ns: Unix time in nanoseconds.
        end_ns: Unix time in nanoseconds.
        status: "ok" or "error".
    """

    name: str
    kind: str
    tool_name: str | None
    trace_id: str
    span_id: str
    parent_span_id: str | None
    start_ns: int | None
    end_ns: int | None
    status: str
    attributes: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The spans of one trial, by start time.

    Attributes:
        missing: Why spans are, or may be, missing; None when all were collected.
        observed: False if nothing could be collected at all.
    """

    spans: tuple[Span, ...] = ()
    missing: str | None = None
    observed: bool = True
