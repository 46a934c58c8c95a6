"""The trace of an eval's trial, with the questions that tests ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seatrial.capture import read_trace
from seatrial.scope import TrialScope, current_scope
from seatrial.snapshot import Json, JsonObject
from seatrial.text import one_line
from seatrial.trace import Span, Trace

__all__ = ["KensaTrace", "Tools", "span_document", "trace_document"]


class KensaTrace:
    """A live view of what the agent was seen to do; complete once `case.run` has returned.

    Bound to the trial that is running when it is made, or to none: it is then empty for good.
    """

    def __init__(self, scope: TrialScope | None = None) -> None:
        self._scope = scope if scope is not None else current_scope()

    def __repr__(self) -> str:
        trace = self._read()
        state = f", incomplete: {trace.missing}" if trace.missing else ""
        return f"<KensaTrace tools={_shown(self.tools.names)}, {len(trace.spans)} spans{state}>"

    def _read(self) -> Trace:
        if self._scope is None or self._scope.spans is None:
            return Trace()
        return read_trace(self._scope)

    @property
    def spans(self) -> list[Span]:
        """All spans by start time, that of the trial included."""
        return list(self._read().spans)

    @property
    def tools(self) -> Tools:
        """The tools that the agent called so far."""
        return Tools([call.tool_name or "" for call in self._read().tool_calls])

    @property
    def cost_usd(self) -> float:
        """The sum of all stated costs, in US dollars to 8 decimals; see `unpriced_turns`."""
        return round(self._read().cost.known_usd, 8)

    @property
    def unpriced_turns(self) -> int:
        """Model turns that state no cost; with any of these, `cost_usd` is a lower bound."""
        return self._read().cost.unpriced_turns

    @property
    def llm_turns(self) -> int:
        """Calls to a language model."""
        return len(self._read().model_turns)

    @property
    def duration_ms(self) -> float:
        """From the first span's start to the last one's end; 0.0 while that is unknown."""
        return self._read().duration_ms

    @property
    def incomplete(self) -> bool:
        """Whether spans are, or may be, missing: absence then proves nothing."""
        return self._read().missing is not None

    @property
    def incomplete_reason(self) -> str | None:
        """Why spans are, or may be, missing."""
        return self._read().missing

    def to_dict(self) -> JsonObject:
        """The trace as a JSON document."""
        return trace_document(self._read())


class Tools:
    """The names of the tools that were called, in order, at one moment."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    def __repr__(self) -> str:
        return f"<tools called: {_shown(self._names)}>"

    @property
    def names(self) -> list[str]:
        """Each call's tool, by start time, repeats included."""
        return list(self._names)

    def include(self, names: Iterable[str]) -> bool:
        """Whether each of the tools was called; True for none."""
        return set(_checked(names, "include")) <= set(self._names)

    def exclude(self, names: Iterable[str]) -> bool:
        """Whether none of the tools was called; True for none."""
        return set(_checked(names, "exclude")).isdisjoint(self._names)

    def order(self, names: Iterable[str]) -> bool:
        """Whether the tools were called in this order, others in between allowed.

        A name given twice needs two calls. True for none.
        """
        calls = iter(self._names)
        return all(name in calls for name in _checked(names, "order"))

    def no_repeats(self) -> bool:
        """Whether no tool was called twice."""
        return len(set(self._names)) == len(self._names)


def _checked(names: Iterable[str], question: str) -> list[str]:
    if isinstance(names, (str, bytes)):
        raise TypeError(f"tools.{question}() takes a list of names: [{names!r}], not {names!r}")
    checked = list(names)
    for name in checked:
        if not isinstance(name, str):
            raise TypeError(f"tools.{question}() takes a list of names, but one is {name!r}")
    return checked


def _shown(names: Sequence[str]) -> str:
    return one_line("[" + ", ".join(map(repr, names)) + "]")


def span_document(span: Span) -> JsonObject:
    """The span as results files show it."""
    return {
        "name": span.name,
        "kind": span.kind,
        "tool_name": span.tool_name,
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "parent_span_id": span.parent_span_id,
        "start_time_unix_nano": span.start_ns,
        "end_time_unix_nano": span.end_ns,
        "status": span.status,
        "attributes": dict(span.attributes),
        "duration_ms": span.duration_ms,
        "cost_usd": span.cost_usd,
    }


def trace_document(trace: Trace) -> JsonObject:
    """The trace as results files show it."""
    spans: list[Json] = [span_document(span) for span in trace.spans]
    tools: list[Json] = [call.tool_name for call in trace.tool_calls]
    return {
        "spans": spans,
        "tools": tools,
        "cost_usd": round(trace.cost.known_usd, 8),
        "unpriced_turns": trace.cost.unpriced_turns,
        "llm_turns": len(trace.model_turns),
        "duration_ms": trace.duration_ms,
        "incomplete": trace.missing is not None,
        "incomplete_reason": trace.missing,
    }
