from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from seatrial.outcome import Outcome
from seatrial.snapshot import JsonObject
from seatrial.spending import Spending, Spent
from seatrial.trace import Span, Trace
from seatrial.trial import Amendment, TrialKey, TrialRecord


def call(**changes: Any) -> JsonObject:
    return {
        "purpose": "judge",
        "provider": "openai",
        "model": "m",
        "input_tokens": 10,
        "output_tokens": 2,
        "cost_usd": 0.5,
        "attempts": 1,
        "duration_s": 0.1,
        "failed": None,
        **changes,
    }


def record(*calls: JsonObject, trace: Trace | None = None) -> TrialRecord:
    key = TrialKey(face="kensa", test="test_x.py::test_x", case="a", index=1, total=1)
    return TrialRecord(
        key=key, nodeid="test_x.py::test_x", outcome=Outcome.PASSED, model_calls=calls, trace=trace
    )


def span(span_id: str, parent: str | None = None, **fields: Any) -> Span:
    common: dict[str, Any] = {
        "name": "chat",
        "kind": "llm",
        "tool_name": None,
        "trace_id": "t",
        "span_id": span_id,
        "parent_span_id": parent,
        "start_ns": 1_767_225_600 * 10**9 + int(span_id),
        "end_ns": None,
        "status": "ok",
        "attributes": {},
    }
    return Span(**{**common, **fields})


def test_calls_are_summed_by_purpose() -> None:
    spending = (
        Spending()
        .plus(record(call(), call(purpose="driver", cost_usd=None)))
        .plus(record(call(attempts=0, cost_usd=0.0, input_tokens=0, output_tokens=0)))
        .plus(record(call(failed="cut short", cost_usd=None, input_tokens=0, output_tokens=0)))
    )

    assert dict(spending.by_purpose) == {
        "judge": Spent(
            calls=3,
            stored=1,
            failed=1,
            input_tokens=10,
            output_tokens=2,
            known_usd=0.5,
            unpriced=1,
        ),
        "driver": Spent(calls=1, input_tokens=10, output_tokens=2, unpriced=1),
    }
    assert (spending.known_usd, spending.unpriced) == (0.5, 2)


def test_what_a_tear_down_asked_counts_too() -> None:
    amendment = Amendment(nodeid="x", outcome=Outcome.PASSED, model_calls=(call(),))

    assert Spending().plus(amendment).known_usd == 0.5


def test_a_record_without_calls_changes_nothing() -> None:
    spending = Spending().plus(record(call()))

    assert spending.plus(record()) is spending
    assert spending.plus(record(trace=Trace(spans=(span("1", kind="span"),)))) is spending


@pytest.mark.parametrize("amount", [-1, float("nan"), float("inf"), "0.5", True, None])
def test_an_amount_that_is_none_is_unknown(amount: Any) -> None:
    (spent,) = Spending().plus(record(call(cost_usd=amount))).by_purpose.values()

    assert (spent.known_usd, spent.unpriced) == (0.0, 1)


def test_the_agents_part_comes_from_its_spans() -> None:
    usage = {"gen_ai.usage.input_tokens": 1_000_000, "gen_ai.usage.output_tokens": 100_000}
    known = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o-mini", **usage}
    trace = Trace(
        spans=(
            span("1", attributes={"kensa.cost_usd": 0.5, **usage}),
            span("2", attributes=known),
            span("3", attributes={**known, "gen_ai.request.model": "ours"}, status="error"),
            # One turn that two instrumentations saw: the inner one knows what it took.
            span("4", attributes={"gen_ai.request.model": "gpt-4o-mini"}),
            span("5", "4", attributes=known),
            # No turn, but it says what it cost.
            span("6", kind="tool", tool_name="search", attributes={"cost_usd": 0.01}),
        )
    )

    (spent,) = Spending().plus(record(trace=trace)).by_purpose.values()

    assert spent == Spent(
        calls=4,
        failed=1,
        input_tokens=4_000_000,
        output_tokens=400_000,
        known_usd=spent.known_usd,
        unpriced=1,
    )
    assert spent.known_usd == pytest.approx(0.5 + 0.21 + 0.21 + 0.01)


def test_an_amount_that_a_span_states_beats_the_price_list() -> None:
    usage = {"gen_ai.usage.input_tokens": 1_000_000, "gen_ai.usage.output_tokens": 100_000}
    known: JsonObject = {"gen_ai.request.model": "gpt-4o-mini", **usage}
    outer = span("1", attributes=known)
    inner = span("2", "1", attributes={**known, "gen_ai.usage.cost": 0.3})

    spending = Spending().plus(record(trace=Trace(spans=(outer, inner))))

    assert spending.known_usd == pytest.approx(0.3)


def test_a_trace_without_model_turns_loads_no_price_list() -> None:
    code = (
        "import sys; from seatrial.trace import Span, Trace; from seatrial.spending import Spending;"
        "from seatrial.trial import *; from seatrial.outcome import Outcome;"
        "span = lambda **more: Span(name='n', tool_name=None, trace_id='t', span_id='s',"
        " parent_span_id=None, start_ns=1, end_ns=2, status='ok', **more);"
        "record = lambda span: TrialRecord(key=TrialKey(face='f', test='t', case='c', index=1,"
        " total=1), nodeid='n', outcome=Outcome.PASSED, trace=Trace(spans=(span,)));"
        "Spending().plus(record(span(kind='tool', attributes={})));"
        "first = 'seatrial.models.prices' in sys.modules;"
        "Spending().plus(record(span(kind='llm', attributes={'kensa.cost_usd': 1.0})));"
        "print(first, 'genai_prices' in sys.modules)"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert result.stdout.split() == ["False", "False"], result.stderr
