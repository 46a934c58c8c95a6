"""What an agent was seen to do in one trial: spans, and the tool calls and model turns in them.

"Not observed" is a value here: a trace that could not be collected says so, and is never an empty
one that looks like an agent that did nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from seatrial.snapshot import JsonObject

__all__ = ["Cost", "Span", "Trace"]

# Ours first, then OpenInference's and what GenAI instrumentations add.
_COST_ATTRIBUTES = ("kensa.cost_usd", "cost_usd", "llm.cost.total", "gen_ai.usage.cost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span, as OpenTelemetry saw it.

    Attributes:
        kind: "llm", "tool", or what the span says of itself, in lower case; "span" if it says
            nothing.
        tool_name: Name of the tool, on spans that are tool calls.
        start_ns: Unix time in nanoseconds.
        end_ns: Unix time in nanoseconds; None if the span was still open when the trace was read.
        status: "ok" or "error"; "open" if the span had not ended.
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

    @property
    def duration_ms(self) -> float | None:
        """From start to end, or None while that is unknown."""
        if self.start_ns is None or self.end_ns is None:
            return None
        return (self.end_ns - self.start_ns) / 1e6

    @property
    def cost_usd(self) -> float | None:
        """What the span says it cost; None if it says nothing, or no finite amount >= 0."""
        for name in _COST_ATTRIBUTES:
            amount = _amount(self.attributes.get(name))
            if amount is not None:
                return amount
        return None


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        amount = float(value)
    except (ValueError, OverflowError):
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a trial cost, as far as its spans say.

    Attributes:
        known_usd: The sum of all stated amounts.
        unpriced_turns: Model turns that state no amount; with any of these, `known_usd` is a
            lower bound.
    """

    known_usd: float
    unpriced_turns: int


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

    @property
    def tool_calls(self) -> tuple[Span, ...]:
        """Spans with a tool's name, by start time, also those that failed or had not ended.

        A call that two instrumentations saw, one inside the other, counts once.
        """
        echoes = self._echoes()
        return tuple(s for s in self.spans if s.tool_name is not None and s.span_id not in echoes)

    @property
    def model_turns(self) -> tuple[Span, ...]:
        """Spans of calls to a language model, by start time; a turn seen twice counts once."""
        echoes = self._echoes()
        return tuple(s for s in self.spans if s.kind == "llm" and s.span_id not in echoes)

    @property
    def model_turn_sightings(self) -> tuple[tuple[Span, ...], ...]:
        """Of each model turn all spans that show it, the outermost first."""
        echoes = self._echoes()
        seen = {turn.span_id: [turn] for turn in self.model_turns}
        for span in self.spans:
            outermost = echoes.get(span.span_id)
            if outermost in seen:
                seen[outermost].append(span)
        return tuple(map(tuple, seen.values()))

    @property
    def cost(self) -> Cost:
        """The stated costs of all spans; a model turn seen twice is paid once."""
        echoes = self._echoes()
        paid = {s.span_id: s.cost_usd for s in self.spans if s.span_id not in echoes}
        for span in self.spans:
            outer = echoes.get(span.span_id)
            if outer is not None and paid.get(outer) is None:
                paid[outer] = span.cost_usd
        return Cost(
            math.fsum(amount for amount in paid.values() if amount is not None),
            sum(paid[turn.span_id] is None for turn in self.model_turns),
        )

    @property
    def duration_ms(self) -> float:
        """From the first start to the last end; 0.0 while that is unknown."""
        starts = [span.start_ns for span in self.spans if span.start_ns is not None]
        ends = [span.end_ns for span in self.spans if span.end_ns is not None]
        return (max(ends) - min(starts)) / 1e6 if starts and ends else 0.0

    def _echoes(self) -> dict[str, str]:
        """Spans that show again what the span around them shows, with that outermost span.

        A harness that wraps an instrumented client in `record_llm_call` has two spans for one
        turn. Only a direct child can be an echo: an agent that calls a tool from within a tool
        has its own spans in between.
        """
        if len(self.spans) < 2:
            return {}
        by_id = {span.span_id: span for span in self.spans}
        echoes = dict(_inner_outer(self.spans, by_id))
        outermost = {inner: _outermost(outer, echoes) for inner, outer in echoes.items()}
        return {inner: outer for inner, outer in outermost.items() if outer not in echoes}


def _inner_outer(spans: tuple[Span, ...], by_id: dict[str, Span]) -> Iterator[tuple[str, str]]:
    for span in spans:
        parent = by_id.get(span.parent_span_id) if span.parent_span_id else None
        if parent is None or parent is span:
            continue
        same_turn = span.kind == parent.kind == "llm"
        same_call = span.tool_name is not None and span.tool_name == parent.tool_name
        if same_turn or same_call:
            yield span.span_id, parent.span_id


def _outermost(span_id: str, echoes: dict[str, str]) -> str:
    # Spans are foreign data: a chain of parents may be a ring, which then has no outermost.
    seen = set()
    while span_id in echoes and span_id not in seen:
        seen.add(span_id)
        span_id = echoes[span_id]
    return span_id
