from __future__ import annotations

import asyncio
import dataclasses
import logging
import pickle
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import pytest
from opentelemetry import trace as opentelemetry_trace

from kensa.case import KensaCase, KensaCaseError, kensa_case
from kensa.trace import KensaTrace
from kensa.tracing import record_span, record_tool_call
from seatrial.scope import TrialScope, bind, unbind

OpenTrial: TypeAlias = Callable[..., AbstractContextManager[TrialScope]]

HELLO = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"input": "hi", "more": 1}, "hi"),
        ({"input": None}, None),
        ({"messages": HELLO}, HELLO),
        ({"messages": tuple(HELLO), "more": 1}, HELLO),
        ({"question": "hi"}, "hi"),
        ({"question": "hi", "answer": "ho"}, {"question": "hi", "answer": "ho"}),
        ({}, {}),
    ],
)
def test_the_input_is_what_the_case_was_made_of(fields: dict[str, Any], expected: object) -> None:
    assert kensa_case(id="a", **fields).input == expected


def test_the_row_is_all_of_it_in_order_and_read_only() -> None:
    case = kensa_case(id="a", input="hi", expected="ho")

    assert list(case.row.items()) == [("id", "a"), ("expected", "ho"), ("input", "hi")]
    with pytest.raises(TypeError):
        case.row["input"] = "changed"  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        case.id = "b"  # type: ignore[misc]


def test_a_case_shows_as_its_id_and_equals_its_like_and_survives_a_pickle() -> None:
    case = kensa_case(id="refund", input={"x": 1})

    assert repr(case) == "refund"
    assert case == kensa_case(id="refund", input={"x": 1})
    assert case != kensa_case(id="refund", input={"x": 2})
    assert pickle.loads(pickle.dumps(case)) == case


def test_nothing_that_a_trial_changes_reaches_another() -> None:
    given = {"items": [1]}
    talk: Any = [{"role": "user", "content": "hello"}]
    case, chat = kensa_case(id="a", input=given), kensa_case(id="b", messages=talk)

    given["items"].append(2)
    talk[0]["content"] = "changed"
    case.input["items"].append(3)
    case.row["input"]["items"].append(4)
    chat.messages[0]["content"] = "changed"
    chat.input[0]["content"] = "changed"

    assert case.input == {"items": [1]}
    assert chat.messages == HELLO


@pytest.mark.parametrize("bad", ["", None, 5, b"a"])
def test_an_id_must_be_text_that_is_not_empty(bad: Any) -> None:
    with pytest.raises(KensaCaseError, match="id of a case: expected text"):
        kensa_case(id=bad)


def test_input_and_messages_exclude_each_other() -> None:
    with pytest.raises(KensaCaseError, match="give input or messages, not both"):
        kensa_case(id="a", input=None, messages=HELLO)  # type: ignore[arg-type]


def test_a_value_that_cannot_be_copied_is_refused() -> None:
    with pytest.raises(KensaCaseError, match="copying failed with TypeError"):
        kensa_case(id="a", input=threading.Lock())


def test_a_case_without_messages_has_none_to_give() -> None:
    with pytest.raises(KensaCaseError, match="made without messages"):
        _ = kensa_case(id="a", input=HELLO).messages


def test_a_run_records_the_case_the_output_and_the_trace(open_trial: OpenTrial) -> None:
    output = {"answer": ["yes"]}

    def harness(case: KensaCase) -> object:
        with record_tool_call("search"):
            return output

    with open_trial(index=2) as scope:
        answer = kensa_case(id="a", input={1, 2}).run(harness)
        seen = KensaTrace()
    output["answer"].append("changed")

    assert answer is output
    assert scope.output == {"answer": ["yes"]}
    assert scope.case == {"id": "a", "input": [1, 2]}
    root, tool = seen.spans
    assert (root.name, root.status, root.parent_span_id) == ("kensa.pytest.trial", "ok", None)
    assert root.attributes == {
        "kensa.case_id": "a",
        "kensa.trial_index": 2,
        "kensa.configured_trials": 3,
        "kensa.pytest_nodeid": "test_x.py::test_x[a-trial2]",
    }
    assert tool.parent_span_id == root.span_id
    assert not seen.incomplete


def test_a_trial_runs_its_case_once_even_if_that_failed(open_trial: OpenTrial) -> None:
    case = kensa_case(id="a")

    def broken(case: KensaCase) -> None:
        with record_tool_call("search"):
            raise KeyError("agent")

    with open_trial() as scope:
        with pytest.raises(KeyError, match="agent"):
            case.run(broken)
        with pytest.raises(KensaCaseError, match=r"runs its case once.*trial1"):
            case.run(lambda case: "fine")
        seen = KensaTrace()

    assert scope.case_ran
    assert scope.output is None
    assert [span.status for span in seen.spans] == ["error", "error"]
    assert seen.tools.names == ["search"]


@pytest.mark.parametrize("output", [float("nan"), {"a": {1}}, object(), {1: "key"}, b"bytes"])
def test_an_output_that_is_not_json_is_an_error_and_the_trace_is_kept(
    open_trial: OpenTrial, output: object
) -> None:
    def harness(case: KensaCase) -> object:
        with record_tool_call("search"):
            return output

    with open_trial() as scope:
        with pytest.raises(KensaCaseError, match="case 'a': the harness's output must be JSON"):
            kensa_case(id="a").run(harness)
        assert KensaTrace().tools.include(["search"])

    assert scope.output is None


def test_a_harness_that_cannot_be_called_is_refused(open_trial: OpenTrial) -> None:
    with open_trial() as scope, pytest.raises(KensaCaseError, match="must be callable, not str"):
        kensa_case(id="a").run("agent")  # type: ignore[arg-type]

    assert not scope.case_ran


async def answer(case: KensaCase) -> str:
    with record_tool_call("search"):
        await asyncio.sleep(0)
    return "yes"


async def run_in_its_own_task(case: KensaCase) -> object:
    return await asyncio.wait_for(case.run(answer), 30)


async def run_directly(case: KensaCase) -> object:
    return await case.run(answer)


async def run_a_future(case: KensaCase) -> object:
    return await case.run(lambda case: asyncio.ensure_future(answer(case)))


@pytest.mark.parametrize("way", [run_directly, run_in_its_own_task, run_a_future])
@pytest.mark.asyncio
async def test_an_awaited_run_records_the_same_and_leaks_no_context(
    open_trial: OpenTrial,
    caplog: pytest.LogCaptureFixture,
    way: Callable[[KensaCase], Awaitable[object]],
) -> None:
    with open_trial() as scope, caplog.at_level(logging.WARNING):
        assert await way(kensa_case(id="a")) == "yes"
        current = opentelemetry_trace.get_current_span()
        seen = KensaTrace()

    root, tool = seen.spans
    assert scope.output == "yes"
    assert tool.parent_span_id == root.span_id
    assert current is opentelemetry_trace.INVALID_SPAN
    assert caplog.records == []
    assert not seen.incomplete


@pytest.mark.asyncio
async def test_a_cancelled_run_ends_its_trace(open_trial: OpenTrial) -> None:
    async def forever(case: KensaCase) -> None:
        await asyncio.Event().wait()

    with open_trial() as scope:
        running = asyncio.ensure_future(kensa_case(id="a").run(forever))
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        (root,) = KensaTrace().spans

    assert root.status == "error"
    assert scope.output is None


@pytest.mark.asyncio
async def test_an_awaited_output_must_be_json_too(open_trial: OpenTrial) -> None:
    async def harness(case: KensaCase) -> object:
        return float("inf")

    with open_trial(), pytest.raises(KensaCaseError, match="inf"):
        await kensa_case(id="a").run(harness)
    with pytest.raises(KensaCaseError, match="inf"):
        await kensa_case(id="a").run(harness)


def test_elsewhere_a_run_calls_the_harness_as_often_as_one_likes(open_trial: OpenTrial) -> None:
    case = kensa_case(id="a", input="hi")

    def harness(case: KensaCase) -> object:
        with record_span("work"):
            return case.input

    plain = TrialScope(key=None, nodeid="test_x.py::test_plain")
    token = bind(plain)
    try:
        assert [case.run(harness), case.run(harness)] == ["hi", "hi"]
        with pytest.raises(KensaCaseError, match="must be JSON"):
            case.run(lambda case: {1})
    finally:
        unbind(token)
    with open_trial(face="rampart") as safety:
        assert [case.run(harness), case.run(harness)] == ["hi", "hi"]

    assert not plain.case_ran
    assert not safety.case_ran
    assert [span.name for span in KensaTrace(safety).spans] == ["work", "work"]
