from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import pytest
from opentelemetry import trace as opentelemetry_trace

from kensa.case import kensa_case
from kensa.trace import KensaTrace, Tools
from kensa.tracing import record_llm_call, record_span, record_tool_call
from seatrial.scope import TrialScope

OpenTrial: TypeAlias = Callable[..., AbstractContextManager[TrialScope]]

CALLS = Tools(["look_up", "search", "look_up", "send"])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (CALLS.include(["search", "look_up"]), True),
        (CALLS.include(("search", "refund")), False),
        (CALLS.include([]), True),
        (CALLS.exclude(["refund"]), True),
        (CALLS.exclude({"refund", "send"}), False),
        (CALLS.exclude([]), True),
        (CALLS.order(["look_up", "send"]), True),
        (CALLS.order(["send", "look_up"]), False),
        (CALLS.order(["look_up", "look_up", "send"]), True),
        (CALLS.order(["search", "search"]), False),
        (CALLS.order([]), True),
        (CALLS.no_repeats(), False),
        (Tools(["a", "b"]).no_repeats(), True),
        (Tools([]).no_repeats(), True),
        (Tools([]).include(["a"]), False),
    ],
)
def test_tools_answer_with_a_plain_truth_value(answer: bool, expected: bool) -> None:
    assert answer is expected


@pytest.mark.parametrize("question", ["include", "exclude", "order"])
def test_a_bare_name_or_no_name_is_refused(question: str) -> None:
    ask: Any = getattr(CALLS, question)

    with pytest.raises(TypeError, match=rf"{question}\(\) takes a list of names: \['send'\]"):
        ask("send")
    with pytest.raises(TypeError, match="but one is 5"):
        ask(["send", 5])
    with pytest.raises(TypeError):
        ask(5)


def test_a_failing_assertion_shows_which_tools_were_called() -> None:
    with pytest.raises(AssertionError) as failure:
        assert CALLS.exclude(["send"])

    assert "<tools called: ['look_up', 'search', 'look_up', 'send']>" in str(failure.value)


def test_a_tool_with_a_hostile_name_cannot_move_the_cursor() -> None:
    assert "\x1b" not in repr(Tools(["\x1b[2J"]))
    assert len(repr(Tools(["x" * 10_000]))) < 600


def test_the_trace_fills_when_the_case_runs(open_trial: OpenTrial) -> None:
    def harness(case: object) -> str:
        cost: dict[str, Any] = {"kensa.cost_usd": 0.1}
        with record_llm_call(provider="openai", model="m", **cost):
            pass
        with record_tool_call("search", query="x"):
            pass
        with record_llm_call("again"), record_span("inner"):
            pass
        return "yes"

    with open_trial():
        seen = KensaTrace()
        before = seen.spans, seen.tools.names, seen.cost_usd, seen.duration_ms, seen.incomplete
        kensa_case(id="a").run(harness)

    assert before == ([], [], 0.0, 0.0, False)
    assert seen.tools.names == ["search"]
    assert seen.llm_turns == 2
    assert seen.cost_usd == 0.1
    assert seen.unpriced_turns == 1
    assert seen.duration_ms > 0
    assert seen.incomplete_reason is None
    assert repr(seen) == "<KensaTrace tools=['search'], 5 spans>"
    turn = seen.spans[1]
    assert turn.attributes["gen_ai.request.model"] == turn.attributes["kensa.llm.model"] == "m"
    assert turn.attributes["gen_ai.system"] == turn.attributes["kensa.llm.provider"] == "openai"


def test_the_document_holds_every_span(open_trial: OpenTrial) -> None:
    def harness(case: object) -> None:
        with record_tool_call("search"):
            pass

    with open_trial():
        kensa_case(id="a").run(harness)
        document: Any = KensaTrace().to_dict()

    assert list(document) == [
        "spans",
        "tools",
        "cost_usd",
        "unpriced_turns",
        "llm_turns",
        "duration_ms",
        "incomplete",
        "incomplete_reason",
    ]
    assert document["tools"] == ["search"]
    assert set(document["spans"][1]) == {
        "name",
        "kind",
        "tool_name",
        "trace_id",
        "span_id",
        "parent_span_id",
        "start_time_unix_nano",
        "end_time_unix_nano",
        "status",
        "attributes",
        "duration_ms",
        "cost_usd",
    }


def test_a_trace_that_could_not_be_collected_says_so(open_trial: OpenTrial) -> None:
    opentelemetry_trace.set_tracer_provider(opentelemetry_trace.NoOpTracerProvider())

    with open_trial():
        kensa_case(id="a").run(lambda case: "yes")
        seen = KensaTrace()

    assert seen.incomplete
    assert "NoOpTracerProvider" in str(seen.incomplete_reason)
    assert "incomplete: " in repr(seen)


def test_callers_attributes_win_and_none_is_left_out(open_trial: OpenTrial) -> None:
    with open_trial():
        with record_tool_call(
            "a", **{"kensa.tool.name": "b", "gone": None, "args": {"x": {1}}, "nan": float("nan")}
        ):
            pass
        (span,) = KensaTrace().spans

    assert span.tool_name == "b"
    assert span.attributes == {
        "kensa.span.kind": "tool",
        "kensa.tool.name": "b",
        "args": '{"x": [1]}',
        "nan": "nan",
    }


def test_a_view_of_no_trial_stays_empty(open_trial: OpenTrial) -> None:
    seen = KensaTrace()
    with open_trial(), record_tool_call("search"):
        pass

    assert seen.spans == []
    assert not seen.incomplete
