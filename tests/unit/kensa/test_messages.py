from __future__ import annotations

from typing import Any

import pytest

from kensa.errors import KensaCaseError
from kensa.messages import checked_messages


def call(call_id: object = "c1", name: object = "f", arguments: object = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: object) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls)}


def answers(call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "done"}


USER: dict[Any, Any] = {"role": "user", "content": "hi"}

CONVERSATIONS: list[list[Any]] = [
    [USER],
    [{"role": "developer", "content": "", "name": "x"}, {"role": "system", "content": "s"}, USER],
    [USER, {"role": "assistant", "content": "ho", "name": "bot"}],
    [USER, asks(call()), answers()],
    [{**asks(call()), "content": None}, answers(), {**asks(call()), "content": "x"}, answers()],
    [asks(call("a"), call("b", arguments='{"x": [1]}')), answers("b"), answers("a"), USER],
]


@pytest.mark.parametrize("messages", CONVERSATIONS)
def test_a_conversation_is_copied(messages: list[Any]) -> None:
    checked = checked_messages(messages)

    assert checked == messages
    assert all(ours is not given for ours, given in zip(checked, messages, strict=True))


class Unreadable:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([], "messages: expected at least one"),
        ("hi", "messages: expected a list, not 'hi'"),
        ({"role": "user"}, "messages: expected a list"),
        (["hi"], r"messages\[0\]: expected a message as a dict, not 'hi'"),
        ([USER, None], r"messages\[1\]: expected a message as a dict"),
        ([{"role": "robot"}], r"messages\[0\].role: expected one of developer, .*, not 'robot'"),
        ([{"role": ["user"]}], r"messages\[0\].role"),
        ([{}], r"role: expected one of"),
        ([USER | {"z": 1, "a": 2, 3: 4}], r"messages\[0\]: unknown keys 'a', 'z', 3; allowed"),
        ([{"role": "user"}], r"content: expected text, not None"),
        ([{"role": "user", "content": [1]}], r"content: expected text"),
        ([{**USER, "name": 5}], r"messages\[0\].name: expected text, not 5"),
        ([{**USER, "tool_calls": [call()]}], "unknown keys 'tool_calls'"),
        ([{"role": "assistant", "content": None}], "content: expected text"),
        ([{**asks(call()), "content": 1}], "content: expected text"),
        ([asks()], r"tool_calls: expected a list of at least one"),
        ([{"role": "assistant", "tool_calls": call()}], "tool_calls: expected a list"),
        ([asks("c")], r"tool_calls\[0\]: expected a tool call as a dict"),
        ([asks({**call(), "x": 1})], "unknown keys 'x'"),
        ([asks(call(""))], r"tool_calls\[0\].id: expected text that is not empty"),
        ([asks(call(5))], r"tool_calls\[0\].id"),
        ([asks(call("a"), call("a"))], r"tool_calls\[1\].id: 'a' is used twice"),
        ([asks({**call(), "type": "fn"})], "type: expected \"function\", not 'fn'"),
        ([asks({**call(), "function": "f"})], "function: expected a dict"),
        ([asks({**call(), "function": {"name": "f", "x": 1}})], "unknown keys 'x'"),
        ([asks(call(name=""))], "function.name: expected text that is not empty"),
        ([asks(call(arguments={}))], "arguments: expected the text of a JSON object"),
        ([asks(call(arguments="[]"))], "arguments: expected the text of a JSON object"),
        ([asks(call(arguments="{"))], "arguments: expected the text of a JSON object"),
        ([asks(call(arguments='{"x": NaN}'))], "arguments: expected the text of a JSON object"),
        ([asks(call(arguments="[" * 100_000))], "arguments: expected the text of a JSON object"),
        ([asks(call())], "no tool message answers the tool calls 'c1'"),
        ([asks(call()), USER], r"messages\[1\]: a user message stands before the answers"),
        ([answers()], "'c1' answers no tool call that is open"),
        ([asks(call()), answers(), answers()], "answers no tool call that is open"),
        ([asks(call()), {**answers(), "tool_call_id": ""}], "tool_call_id: expected text"),
        ([asks(call()), {**answers(), "content": None}], "content: expected text"),
        ([asks(call()), {**answers(), "name": "f"}], "unknown keys 'name'"),
        ([Unreadable()], "whose repr fails with RuntimeError"),
        ([{"role": "user", "content": 5, "\x1b[31m": 1}], r"unknown keys '\\x1b\[31m'"),
    ],
)
def test_what_is_no_conversation_is_refused_with_its_place(messages: Any, problem: str) -> None:
    with pytest.raises(KensaCaseError, match=problem):
        checked_messages(messages)
