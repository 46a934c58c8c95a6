"""Messages, with Anthropic's own SDK."""

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

anthropic = pytest.importorskip("anthropic", reason="the extra `llm` is not installed")

_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
_TOOL = {"name": "report", "description": "The end.", "input_schema": _SCHEMA}
_OTHER = {"name": "close", "input_schema": {"type": "object"}}
_HELLO = [{"role": "user", "content": "Hello!"}]


def _client(server: ModelServer) -> Any:
    return anthropic.Anthropic(base_url=server.anthropic_base_url, api_key="k", max_retries=0)


def _ask(server: ModelServer, **more: Any) -> Any:
    question = {"model": "claude-x", "max_tokens": 100, "messages": _HELLO, **more}
    with _client(server) as client:
        return client.messages.create(**question)


def test_a_text_answer_arrives_with_its_usage() -> None:
    with ModelServer([TextReply("Paris", input_tokens=7, output_tokens=2)]) as server:
        answer = _ask(server)
    assert [block.text for block in answer.content] == ["Paris"]
    assert (answer.stop_reason, answer.model) == ("end_turn", "claude-x")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (7, 2)


def test_the_request_is_kept_as_plain_words() -> None:
    history = [
        *_HELLO,
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Wait."},
                {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "found"},
                {"type": "text", "text": "And?"},
            ],
        },
    ]
    with ModelServer(answer="ok") as server:
        _ask(
            server,
            messages=history,
            system=[{"type": "text", "text": "Be brief."}, {"type": "text", "text": "No jokes."}],
            tools=[_TOOL, {"type": "web_search_20250305", "name": "web_search"}],
        )
        (request,) = server.requests
    assert (request.protocol, request.system) == ("anthropic", "Be brief.\n\nNo jokes.")
    assert request.messages == (
        Message("user", "Hello!"),
        Message("assistant", "Wait."),
        Message("assistant", 'search({"q": 1})'),
        Message("tool", "found"),
        Message("user", "And?"),
    )
    assert [(tool.name, tool.description) for tool in request.tools] == [("report", "The end.")]
    assert "anthropic-version" in request.headers


def test_tool_calls_arrive_with_their_arguments() -> None:
    calls = (ToolCall("report", {"city": "Paris"}), ToolCall("close", {}))
    with ModelServer([ToolCallReply(calls, text="Wait.")]) as server:
        answer = _ask(server, tools=[_TOOL, _OTHER])
    text, *uses = answer.content
    assert (text.text, answer.stop_reason) == ("Wait.", "tool_use")
    assert [(use.name, use.input) for use in uses] == [("report", {"city": "Paris"}), ("close", {})]
    assert len({use.id for use in uses}) == 2


def test_structured_data_is_json_text_where_the_request_names_a_schema() -> None:
    form = {"format": {"type": "json_schema", "schema": _SCHEMA}}
    with ModelServer(answer=StructuredReply({"city": "Paris"})) as server:
        assert _ask(server, output_config=form).content[0].text == '{"city": "Paris"}'
        assert server.requests[0].output_schema == _SCHEMA


@pytest.mark.parametrize(
    ("choice", "called"),
    [({"type": "any"}, "report"), ({"type": "tool", "name": "close"}, "close")],
)
def test_structured_data_is_a_call_where_the_request_forces_one(choice: Any, called: str) -> None:
    with ModelServer(answer=StructuredReply({"city": "Paris"})) as server:
        (use,) = _ask(server, tools=[_TOOL, _OTHER], tool_choice=choice).content
    assert (use.name, use.input) == (called, {"city": "Paris"})


def test_structured_data_is_json_text_where_nothing_is_forced() -> None:
    with ModelServer(answer=StructuredReply({"city": "Paris"})) as server:
        (block,) = _ask(server, tools=[_TOOL], tool_choice={"type": "auto"}).content
    assert block.text == '{"city": "Paris"}'


def test_a_refusal_is_a_reason_to_stop() -> None:
    with ModelServer([RefusalReply("No.")]) as server:
        answer = _ask(server)
    assert (answer.stop_reason, answer.content[0].text) == ("refusal", "No.")


@pytest.mark.parametrize(
    "reply",
    [
        TextReply("Paris is the capital of France."),
        RefusalReply("Certainly not, and never."),
        ToolCallReply((ToolCall("report", {"city": "Paris"}), ToolCall("close", {})), text="Wait."),
    ],
)
def test_a_streamed_answer_is_put_together_by_the_sdk_and_is_the_same_as_whole(reply: Any) -> None:
    with ModelServer(answer=reply) as server, _client(server) as client:
        whole = _ask(server)
        with client.messages.stream(model="claude-x", max_tokens=9, messages=_HELLO) as stream:
            events = list(stream)
            streamed = stream.get_final_message()
    assert sum(event.type == "content_block_delta" for event in events) > 2
    assert streamed.stop_reason == whole.stop_reason
    assert streamed.usage.output_tokens == whole.usage.output_tokens
    for one, other in zip(streamed.content, whole.content, strict=True):
        assert one.type == other.type
        assert getattr(one, "text", None) == getattr(other, "text", None)
        assert getattr(one, "input", None) == getattr(other, "input", None)


def test_models_are_listed() -> None:
    with ModelServer([]) as server, _client(server) as client:
        assert [model.id for model in client.models.list()] == ["scripted"]
