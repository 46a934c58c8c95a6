from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import copy_context
from typing import Any, TypeAlias

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from seatrial.capture import (
    close_trace,
    flush_trace,
    open_trace,
    provider,
    read_trace,
    record_span,
    root_span,
    unobserved,
)
from seatrial.capture.collector import MAX_SPANS
from seatrial.capture.conversion import MAX_ITEMS, MAX_TEXT
from seatrial.scope import TrialScope

OpenTrial: TypeAlias = Callable[..., AbstractContextManager[TrialScope]]


def names(scope: TrialScope) -> list[str]:
    return [span.name for span in read_trace(scope).spans]


@pytest.fixture
def application(fresh_opentelemetry: None) -> Iterator[InMemorySpanExporter]:
    """An application that set its own provider before the first trial."""
    exporter = InMemorySpanExporter()
    own = TracerProvider()
    own.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(own)
    yield exporter
    own.shutdown()


def test_importing_capture_loads_no_opentelemetry() -> None:
    code = "import seatrial.capture, sys; print([m for m in sys.modules if 'opentelemetry' in m])"

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert result.stdout.strip() == "[]", result.stderr


def test_without_a_provider_ours_collects_what_any_tracer_starts(open_trial: OpenTrial) -> None:
    with open_trial() as scope:
        open_trace(scope)
        with trace.get_tracer("library").start_as_current_span("work"):
            pass

    assert names(scope) == ["work"]
    assert read_trace(scope).observed
    assert read_trace(scope).missing is None


def test_the_applications_provider_keeps_its_spans_and_gives_us_ours(
    application: InMemorySpanExporter, open_trial: OpenTrial
) -> None:
    before = trace.get_tracer_provider()

    with open_trial() as scope, record_span("work", {}):
        pass

    assert trace.get_tracer_provider() is before
    assert [span.name for span in application.get_finished_spans()] == ["work"]
    assert names(scope) == ["work"]


def test_a_provider_set_between_two_trials_is_found(open_trial: OpenTrial) -> None:
    with open_trial() as first:
        open_trace(first)
    # As if nobody had set one before: OpenTelemetry itself refuses a second.
    trace._TRACER_PROVIDER = None
    trace._TRACER_PROVIDER_SET_ONCE._done = False
    trace.set_tracer_provider(TracerProvider())

    with open_trial() as second, record_span("work", {}):
        pass

    assert names(second) == ["work"]


def test_a_provider_that_forgot_us_gets_us_again(
    application: InMemorySpanExporter, open_trial: OpenTrial
) -> None:
    with open_trial() as first:
        open_trace(first)
    own = trace.get_tracer_provider()
    assert isinstance(own, TracerProvider)
    own._active_span_processor._span_processors = ()

    with open_trial() as second:
        root = root_span(second, "trial", {})
        with root.current(), record_span("work", {}):
            pass
        root.end()

    assert names(second) == ["trial", "work"]
    assert read_trace(second).missing is None


def test_a_provider_that_takes_no_processors_makes_the_trace_unobserved(
    open_trial: OpenTrial,
) -> None:
    trace.set_tracer_provider(trace.NoOpTracerProvider())

    with open_trial() as scope, record_span("work", {}):
        pass

    final = close_trace(scope)
    assert not final.observed
    assert final.missing is not None
    assert "NoOpTracerProvider" in final.missing


def test_a_provider_that_raises_makes_the_trace_unobserved(open_trial: OpenTrial) -> None:
    class Broken(TracerProvider):
        def add_span_processor(self, span_processor: SpanProcessor) -> None:
            raise RuntimeError("full")

    trace.set_tracer_provider(Broken())

    with open_trial() as scope:
        open_trace(scope)

    assert not read_trace(scope).observed
    assert "RuntimeError: full" in str(read_trace(scope).missing)


def test_a_provider_that_cannot_be_loaded_makes_the_trace_unobserved(
    open_trial: OpenTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "OTEL_PYTHON_TRACER_PROVIDER", "PATH")
    monkeypatch.setenv("PATH", "no-such-provider")

    with open_trial() as scope:
        open_trace(scope)

    assert "cannot be loaded" in str(read_trace(scope).missing)


def test_a_disabled_sdk_makes_the_trace_unobserved(
    open_trial: OpenTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "True")

    with open_trial() as scope:
        open_trace(scope)

    assert not read_trace(scope).observed
    assert "OTEL_SDK_DISABLED" in str(read_trace(scope).missing)


def test_a_sampler_that_drops_the_trial_makes_the_trace_unobserved(open_trial: OpenTrial) -> None:
    trace.set_tracer_provider(TracerProvider(sampler=ALWAYS_OFF))

    with open_trial() as scope:
        root_span(scope, "trial", {}).end()

    assert not read_trace(scope).observed
    assert "sampler" in str(read_trace(scope).missing)


def test_concurrent_trials_keep_their_spans_apart(open_trial: OpenTrial) -> None:
    scopes: list[TrialScope] = []
    together = threading.Barrier(4, timeout=30)

    def trial(index: int) -> None:
        with open_trial() as scope:
            scopes.append(scope)
            together.wait()
            for step in range(20):
                with record_span(f"{index}.{step}", {}):
                    pass
            together.wait()

    threads = [threading.Thread(target=trial, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert all(len(names(scope)) == 20 for scope in scopes)
    assert all(len({name.split(".")[0] for name in names(scope)}) == 1 for scope in scopes)


def test_a_thread_with_the_trials_context_reaches_the_trial(open_trial: OpenTrial) -> None:
    with open_trial() as scope:
        open_trace(scope)

        def work() -> None:
            with record_span("in thread", {}):
                pass

        thread = threading.Thread(target=copy_context().run, args=(work,))
        thread.start()
        thread.join(30)

    assert names(scope) == ["in thread"]


def test_a_thread_with_only_opentelemetrys_context_finds_the_trial_by_its_parent(
    open_trial: OpenTrial,
) -> None:
    tracer = trace.get_tracer("library")

    def work(parent: otel_context.Context) -> None:
        tracer.start_span("child", context=parent).end()

    with open_trial() as scope:
        open_trace(scope)
        with tracer.start_as_current_span("parent") as span:
            parent = trace.set_span_in_context(span, otel_context.Context())
        # The parent has ended by now.
        thread = threading.Thread(target=work, args=(parent,))
        thread.start()
        thread.join(30)

    assert sorted(names(scope)) == ["child", "parent"]


def test_spans_outside_of_any_trial_go_nowhere(open_trial: OpenTrial) -> None:
    with open_trial() as scope:
        open_trace(scope)

    with record_span("elsewhere", {}):
        pass

    assert names(scope) == []


def test_what_a_judge_does_is_not_the_agents(open_trial: OpenTrial) -> None:
    with open_trial() as scope, record_span("agent", {}):
        with unobserved(), record_span("judge's model", {}):
            pass
        with record_span("agent again", {}):
            pass

    assert names(scope) == ["agent", "agent again"]


def test_an_open_span_is_evidence_and_is_noted(open_trial: OpenTrial) -> None:
    with open_trial() as scope:
        open_trace(scope)
        trace.get_tracer("library").start_span(
            "execute_tool refund", attributes={"gen_ai.operation.name": "execute_tool"}
        )

    final = close_trace(scope)
    assert [call.tool_name for call in final.tool_calls] == ["refund"]
    assert final.spans[0].status == "open"
    assert final.spans[0].end_ns is None
    assert final.missing == "spans had not ended: execute_tool refund"
    assert final.observed


def test_spans_around_the_reader_and_of_fixtures_are_not_missing(open_trial: OpenTrial) -> None:
    with open_trial() as scope:
        scope.phase = "setup"
        open_trace(scope)
        trace.get_tracer("library").start_span("fixture")
        scope.phase = "call"
        with record_span("outer", {}), record_span("inner", {}):
            inside = read_trace(scope)
            trace.get_tracer("library").start_span("left open")
            later = read_trace(scope)

    assert inside.missing is None
    assert {span.name for span in inside.spans} == {"fixture", "outer", "inner"}
    assert later.missing == "spans had not ended: left open"


def test_a_closed_trace_is_final(open_trial: OpenTrial) -> None:
    with open_trial() as scope:
        open_trace(scope)
        late = trace.get_tracer("library").start_span("late")
        final = close_trace(scope)
        late.end()
        with record_span("later", {}):
            pass

    assert read_trace(scope).spans == ()
    assert close_trace(scope).missing == "the trial is over and its spans are freed"
    assert [span.name for span in final.spans] == ["late"]


def test_a_trial_that_never_traced_is_not_observed(open_trial: OpenTrial) -> None:
    with open_trial() as scope:
        pass

    assert not read_trace(scope).observed
    assert not close_trace(scope).observed


def test_closing_frees_what_capture_holds(open_trial: OpenTrial) -> None:
    with open_trial() as scope:
        open_trace(scope)
        open_trace(scope)
        with record_span("work", {}):
            pass
    assert scope.spans in provider._router._owners.values()

    close_trace(scope)

    assert scope.spans not in provider._router._owners.values()
    assert read_trace(scope).spans == ()


def test_more_spans_than_fit_are_counted(
    open_trial: OpenTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seatrial.capture.collector.MAX_SPANS", 3)
    with open_trial() as scope:
        for _ in range(5):
            with record_span("work", {}):
                pass

    assert MAX_SPANS > 3
    assert len(names(scope)) == 3
    assert read_trace(scope).missing == "2 spans beyond the first 3 were dropped"


class Flushing(TracerProvider):
    """A provider whose flush does what the test says."""

    def __init__(self, answer: bool | Exception) -> None:
        super().__init__()
        self.answer = answer
        self.flushes = 0

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        self.flushes += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        (True, None),
        (False, "the tracer provider did not flush within 10 s"),
        (OSError("\x1b[31mgone"), r"flushing the tracer provider failed: OSError: \x1b[31mgone"),
    ],
)
def test_a_flush_that_fails_is_noted_and_not_repeated(
    open_trial: OpenTrial, answer: bool | Exception, missing: str | None
) -> None:
    own = Flushing(answer)
    trace.set_tracer_provider(own)

    with open_trial() as scope:
        with record_span("work", {}):
            pass
        flush_trace(scope)
        flush_trace(scope)

    final = close_trace(scope)
    assert final.missing == missing
    assert final.observed
    assert own.flushes == 1


def test_a_flush_that_knows_no_time_limit_is_asked_without(open_trial: OpenTrial) -> None:
    class Plain(TracerProvider):
        def force_flush(self) -> bool:  # type: ignore[override]
            return False

    trace.set_tracer_provider(Plain())

    with open_trial() as scope:
        open_trace(scope)

    assert "did not flush" in str(close_trace(scope).missing)


def test_attributes_are_bounded_json(open_trial: OpenTrial) -> None:
    with open_trial() as scope:
        open_trace(scope)
        long = "x" * (MAX_TEXT + 5)
        attributes: dict[str, Any] = {
            "long": long,
            "many": [1] * (MAX_ITEMS + 2),
            "nan": float("nan"),
        }
        trace.get_tracer("library").start_span("work", attributes=attributes).end()

    recorded = read_trace(scope).spans[0].attributes
    assert recorded["long"] == long[:MAX_TEXT] + "… [5 more characters dropped]"
    assert recorded["many"] == [1] * MAX_ITEMS + ["[2 more items dropped]"]
    assert recorded["nan"] == "nan"


@pytest.mark.parametrize(
    ("attributes", "kind", "tool"),
    [
        ({}, "span", None),
        ({"gen_ai.operation.name": "chat"}, "llm", None),
        ({"gen_ai.operation.name": "text_completion"}, "llm", None),
        ({"gen_ai.request.model": "m"}, "llm", None),
        ({"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "m"}, "embedding", None),
        ({"gen_ai.operation.name": "invoke_agent", "gen_ai.request.model": "m"}, "agent", None),
        ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}, "tool", "t"),
        ({"gen_ai.operation.name": "execute_tool"}, "tool", "n"),
        ({"gen_ai.tool.name": "t"}, "tool", "t"),
        ({"openinference.span.kind": "LLM"}, "llm", None),
        ({"openinference.span.kind": "TOOL", "tool.name": "t"}, "tool", "t"),
        ({"openinference.span.kind": "TOOL"}, "tool", "n"),
        ({"openinference.span.kind": "CHAIN", "gen_ai.operation.name": "chat"}, "chain", None),
        ({"kensa.span.kind": "tool", "kensa.tool.name": "k", "tool.name": "t"}, "tool", "k"),
        ({"kensa.span.kind": 5, "tool.name": ""}, "span", None),
    ],
)
def test_kinds_follow_the_conventions(
    open_trial: OpenTrial, attributes: dict[str, str], kind: str, tool: str | None
) -> None:
    with open_trial() as scope:
        open_trace(scope)
        trace.get_tracer("library").start_span("n", attributes=attributes).end()

    (span,) = read_trace(scope).spans
    assert (span.kind, span.tool_name) == (kind, tool)


def test_a_failing_body_marks_its_span_and_the_error_goes_on(open_trial: OpenTrial) -> None:
    def fail() -> None:
        with record_span("work", {}):
            raise KeyError("x")

    with open_trial() as scope, pytest.raises(KeyError):
        fail()

    assert read_trace(scope).spans[0].status == "error"


def test_an_error_whose_text_cannot_be_read_still_marks_the_root(open_trial: OpenTrial) -> None:
    class UnreadableError(Exception):
        def __str__(self) -> str:
            raise ValueError

        __repr__ = __str__

    def fail() -> None:
        with root.current():
            raise UnreadableError

    with open_trial() as scope:
        root = root_span(scope, "trial", {})
        with pytest.raises(UnreadableError):
            fail()
        root.end()

    assert read_trace(scope).spans[0].status == "error"


def test_the_root_has_no_parent_whatever_is_current(open_trial: OpenTrial) -> None:
    with open_trial() as scope, record_span("ambient", {}):
        root = root_span(scope, "trial", {})
        with root.current(), record_span("child", {}):
            pass
        root.end()

    by_name = {span.name: span for span in read_trace(scope).spans}
    assert by_name["trial"].parent_span_id is None
    assert by_name["child"].parent_span_id == by_name["trial"].span_id
    assert by_name["child"].trace_id != by_name["ambient"].trace_id


def test_a_coroutine_dropped_half_way_disturbs_no_other_context(
    open_trial: OpenTrial, caplog: pytest.LogCaptureFixture
) -> None:
    def work(root: object) -> Iterator[None]:
        with root.current():  # type: ignore[attr-defined]
            yield

    with open_trial() as scope, caplog.at_level(logging.ERROR):
        root = root_span(scope, "trial", {})
        running = work(root)
        copy_context().run(next, running)
        running.close()  # type: ignore[attr-defined]
        same_context = work(root)
        next(same_context)
        same_context.close()  # type: ignore[attr-defined]
        current = trace.get_current_span()

    assert caplog.records == []
    assert current is trace.INVALID_SPAN


def test_a_span_that_two_processors_show_us_is_kept_once(open_trial: OpenTrial) -> None:
    with open_trial() as scope:
        open_trace(scope)
        provider.reattach()
        with record_span("work", {}):
            pass

    assert names(scope) == ["work"]
