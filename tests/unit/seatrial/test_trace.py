from __future__ import annotations

from typing import Any

import pytest

from seatrial.snapshot import Json
from seatrial.trace import Span, Trace


def span(
    span_id: str,
    *,
    parent: str | None = None,
    kind: str = "span",
    tool: str | None = None,
    start: int | None = 0,
    end: int | None = 0,
    **attributes: Json,
) -> Span:
    return Span(
        name=span_id,
        kind=kind,
        tool_name=tool,
        trace_id="t",
        span_id=span_id,
        parent_span_id=parent,
        start_ns=start,
        end_ns=end,
        status="ok",
        attributes=attributes,
    )


def test_a_model_turn_wrapped_in_another_is_one_turn_and_paid_once() -> None:
    trace = Trace(
        spans=(
            span("outer", kind="llm", cost_usd=0.5),
            span("inner", parent="outer", kind="llm", cost_usd=0.5),
        )
    )

    assert [turn.span_id for turn in trace.model_turns] == ["outer"]
    assert trace.cost.known_usd == 0.5
    assert trace.cost.unpriced_turns == 0


def test_a_turn_is_priced_by_whichever_of_its_spans_states_a_cost() -> None:
    trace = Trace(
        spans=(
            span("outer", kind="llm"),
            span("inner", parent="outer", kind="llm", cost_usd=0.25),
            span("innermost", parent="inner", kind="llm", cost_usd=0.25),
            span("other", kind="llm"),
        )
    )

    assert trace.cost.known_usd == 0.25
    assert trace.cost.unpriced_turns == 1


def test_a_tool_call_seen_twice_is_one_call_but_a_repeat_is_two() -> None:
    trace = Trace(
        spans=(
            span("a", kind="tool", tool="search"),
            span("b", parent="a", kind="tool", tool="search"),
            span("c", kind="tool", tool="search"),
            span("d", parent="c", kind="tool", tool="fetch"),
        )
    )

    assert [call.span_id for call in trace.tool_calls] == ["a", "c", "d"]


def test_parents_in_a_ring_lose_no_call() -> None:
    trace = Trace(
        spans=(
            span("a", parent="b", kind="tool", tool="search"),
            span("b", parent="a", kind="tool", tool="search"),
            span("c", parent="c", kind="tool", tool="search"),
        )
    )

    assert len(trace.tool_calls) == 3


@pytest.mark.parametrize(
    ("stated", "cost"),
    [(0.5, 0.5), (2, 2.0), ("0.25", 0.25), (0, 0.0)]
    + [(bad, None) for bad in (-1, "nan", "inf", "free", True, None, 10**400)],
)
def test_only_a_finite_amount_that_is_not_negative_is_a_cost(
    stated: Json, cost: float | None
) -> None:
    assert span("a", cost_usd=stated).cost_usd == cost


def test_our_own_cost_goes_before_what_others_say() -> None:
    others: dict[str, Any] = {"llm.cost.total": 3.0}
    ours: dict[str, Any] = {"cost_usd": 1.0, "kensa.cost_usd": 2.0}

    assert span("a", **others, **ours).cost_usd == 2.0
    assert span("a", **others).cost_usd == 3.0


def test_the_duration_spans_from_the_first_start_to_the_last_end() -> None:
    trace = Trace(spans=(span("a", start=1_000_000, end=4_000_000), span("b", start=2, end=None)))

    assert trace.duration_ms == pytest.approx(4.0, abs=1e-4)
    assert trace.spans[0].duration_ms == 3.0
    assert trace.spans[1].duration_ms is None
    assert Trace().duration_ms == 0.0
