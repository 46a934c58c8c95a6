"""Responses, with OpenAI's own SDK."""

from __future__ import annotations

from typing import Any

import pytest

from seatrial.testing import (
    Message,
    ModelServer,
    RefusalReply,
    StructuredReply,
    TextReply,
    ToolCall,
    ToolCallReply,
)

openai = pytest.importorskip("openai", reason="the extra `llm` is not installed")

_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
_TOOL = {"type": "function", "name": "report", "parameters": _SCHEMA, "strict": True}
_OTHER = {"type": "function", "name": "close", "parameters": {}, "strict": False}


def _ask(server: ModelServer, **more: Any) -> Any:
    with openai.OpenAI(base_url=server.openai_base_url, api_key="k", max_retries=0) as client:
        return client.responses.create(**{"model": "gpt-x", "input": "Hello!", **more})


def test_a_text_answer_arrives_with_its_usage() -> None:
    with ModelServer([TextReply("Paris", input_tokens=7, output_tokens=2)]) as server:
        answer = _ask(server)
    assert (answer.output_text, answer.status, answer.model) == ("Paris", "completed", "gpt-x")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (7, 2)


def test_the_request_is_kept_as_plain_words() -> None:
    history = [
        {"role": "developer", "content": "No jokes."},
        {"role": "user", "content": [{"type": "input_text", "text": "Hello!"}]},
        {"type": "function_call", "call_id": "c1", "name": "search", "arguments": '{"q": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
        {"type": "item_reference", "id": "x"},
    ]
    with ModelServer(answer="ok") as server:
        _ask(server, input=history, instructions="Be brief.", tools=[_TOOL, _OTHER])
        _ask(server)
        request, plain = server.requests
    assert (request.protocol, request.system) == ("openai-responses", "Be brief.\n\nNo jokes.")
    assert request.messages == (
        Message("user", "Hello!"),
        Message("assistant", 'search({"q": 1})'),
        Message("tool", "found"),
        Message("assistant", "[item_reference]"),
    )
    assert [tool.name for tool in request.tools] == ["report", "close"]
    assert (plain.messages, plain.system) == ((Message("user", "Hello!"),), "")


def test_tool_calls_arrive_with_their_arguments() -> None:
    calls = (ToolCall("report", {"city": "Paris"}), ToolCall("close", "{broken"))
    with ModelServer([ToolCallReply(calls)]) as server:
        output = _ask(server, tools=[_TOOL, _OTHER]).output
    assert [(item.type, item.name, item.arguments) for item in output] == [
        ("function_call", "report", '{"city": "Paris"}'),
        ("function_call", "close", "{broken"),
    ]
    assert len({item.call_id for item in output}) == 2


def test_structured_data_is_json_text_where_the_request_names_a_schema() -> None:
    form = {"format": {"type": "json_schema", "name": "answer", "schema": _SCHEMA}}
    with ModelServer(answer=StructuredReply({"city": "Paris"})) as server:
        assert _ask(server, text=form).output_text == '{"city": "Paris"}'
        assert server.requests[0].output_schema == _SCHEMA


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ("required", "report"),
        ({"type": "function", "name": "close"}, "close"),
        (
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "close"}],
            },
            "close",
        ),
    ],
)
def test_structured_data_is_a_call_where_the_request_forces_one(choice: Any, called: str) -> None:
    with ModelServer(answer=StructuredReply({"city": "Paris"})) as server:
        (item,) = _ask(server, tools=[_TOOL, _OTHER], tool_choice=choice).output
    assert (item.name, item.arguments) == (called, '{"city": "Paris"}')


@pytest.mark.parametrize(
    "choice", ["auto", {"type": "allowed_tools", "mode": "auto", "tools": [_TOOL]}]
)
def test_structured_data_is_json_text_where_nothing_is_forced(choice: Any) -> None:
    with ModelServer(answer=StructuredReply({"city": "Paris"})) as server:
        assert _ask(server, tools=[_TOOL], tool_choice=choice).output_text == '{"city": "Paris"}'


def test_a_refusal_is_a_part_of_its_own() -> None:
    with ModelServer([RefusalReply("No.")]) as server:
        (item,) = _ask(server).output
    assert [(part.type, part.refusal) for part in item.content] == [("refusal", "No.")]


@pytest.mark.parametrize(
    "reply",
    [
        TextReply("Paris is the capital of France."),
        RefusalReply("Certainly not, and never."),
        ToolCallReply((ToolCall("report", {"city": "Paris"}), ToolCall("close", {})), text="Wait."),
    ],
)
def test_a_streamed_answer_is_put_together_by_the_sdk_and_is_the_same_as_whole(reply: Any) -> None:
    with (
        ModelServer(answer=reply) as server,
        openai.OpenAI(base_url=server.openai_base_url, api_key="k", max_retries=0) as client,
    ):
        whole = _ask(server)
        with client.responses.stream(model="gpt-x", input="Hello!") as stream:
            events = list(stream)
            streamed = stream.get_final_response()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].type == "response.completed"
    assert sum(event.type.endswith(".delta") for event in events) > 2
    assert _without_numbers(streamed) == _without_numbers(whole)


def _without_numbers(response: Any) -> list[Any]:
    kept = []
    for item in response.output:
        if item.type == "message":
            words = [getattr(part, "text", None) or part.refusal for part in item.content]
            kept.append((item.type, item.status, words))
        else:
            kept.append((item.type, item.status, item.name, item.arguments))
    return kept
