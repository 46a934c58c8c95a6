"""Chat completions, with OpenAI's own SDK and with pydantic-ai's model on it."""

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

_HELLO: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello!"}]
_LONG = "Paris is the capital of France, and has been for a long time. " * 20


def _tool(name: str, *properties: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {key: {"type": "string"} for key in properties},
        "required": list(properties),
    }
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def _client(server: ModelServer) -> Any:
    return openai.OpenAI(base_url=server.openai_base_url, api_key="sk-secret", max_retries=0)


def _ask(server: ModelServer, **more: Any) -> Any:
    with _client(server) as client:
        return client.chat.completions.create(model="gpt-x", messages=_HELLO, **more)


def _chunks(server: ModelServer, **more: Any) -> list[Any]:
    with _client(server) as client:
        return list(
            client.chat.completions.create(model="gpt-x", messages=_HELLO, stream=True, **more)
        )


def test_a_text_answer_arrives_with_its_usage() -> None:
    with ModelServer([TextReply("Paris", input_tokens=7, output_tokens=2)]) as server:
        answer = _ask(server)
    (choice,) = answer.choices
    assert (choice.message.content, choice.finish_reason) == ("Paris", "stop")
    assert answer.model == "gpt-x"
    usage = answer.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (7, 2, 9)


def test_the_request_is_kept_as_plain_words_and_as_it_came() -> None:
    with ModelServer(answer="ok") as server:
        _ask(server, tools=[_tool("search", "q")], temperature=0.5)
        (request,) = server.requests
    assert (request.protocol, request.number, request.model) == ("openai-chat", 1, "gpt-x")
    assert request.messages == (Message("user", "Hello!"),)
    assert request.system == "Be brief."
    assert [tool.name for tool in request.tools] == ["search"]
    assert request.tools[0].parameters["required"] == ["q"]
    assert (request.forced_tools, request.output_schema, request.streamed) == ((), None, False)
    assert request.body["temperature"] == 0.5
    assert request.headers["authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in repr(request)


def test_calls_and_results_of_tools_are_messages_of_their_own() -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "search", "arguments": '{"q": 1}'},
    }
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    history: Any = [
        {"role": "user", "content": [{"type": "text", "text": "Look: "}, image]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
    ]
    with ModelServer(answer="ok") as server, _client(server) as client:
        client.chat.completions.create(model="gpt-x", messages=history)
        (request,) = server.requests
    assert request.messages == (
        Message("user", "Look: [image_url]"),
        Message("assistant", 'search({"q": 1})'),
        Message("tool", "found"),
    )


def test_tool_calls_arrive_with_their_arguments() -> None:
    calls = (ToolCall("search", {"q": "é"}), ToolCall("close", "{broken"))
    with ModelServer([ToolCallReply(calls, text="Wait.")]) as server:
        (choice,) = _ask(server, tools=[_tool("search", "q"), _tool("close")]).choices
    assert (choice.message.content, choice.finish_reason) == ("Wait.", "tool_calls")
    made = choice.message.tool_calls
    assert [(call.function.name, call.function.arguments) for call in made] == [
        ("search", '{"q": "\\u00e9"}'),
        ("close", "{broken"),
    ]
    assert len({call.id for call in made}) == 2


def test_a_refusal_is_no_content() -> None:
    with ModelServer([RefusalReply("No.")]) as server:
        (choice,) = _ask(server).choices
    assert (choice.message.content, choice.message.refusal) == (None, "No.")


def test_structured_data_is_json_text_where_the_request_names_a_schema() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    with ModelServer(answer=StructuredReply({"city": "Paris"})) as server:
        (choice,) = _ask(server, response_format=form).choices
        assert server.requests[0].output_schema == schema
    assert choice.message.content == '{"city": "Paris"}'


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ("required", "report"),
        ({"type": "function", "function": {"name": "search"}}, "search"),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "close"}}],
                },
            },
            "close",
        ),
    ],
)
def test_structured_data_is_a_call_where_the_request_forces_one(choice: Any, called: str) -> None:
    tools = [_tool("report", "city"), _tool("search", "q"), _tool("close")]
    with ModelServer(answer=StructuredReply({"city": "Paris"})) as server:
        answer = _ask(server, tools=tools, tool_choice=choice)
    (call,) = answer.choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == (called, '{"city": "Paris"}')


@pytest.mark.parametrize("choice", ["auto", "none"])
def test_structured_data_is_json_text_where_nothing_is_forced(choice: str) -> None:
    with ModelServer(answer=StructuredReply({"city": "Paris"})) as server:
        answer = _ask(server, tools=[_tool("report", "city")], tool_choice=choice)
    assert answer.choices[0].message.content == '{"city": "Paris"}'


def test_a_streamed_text_arrives_whole_in_several_pieces_and_with_its_usage() -> None:
    with ModelServer([_LONG]) as server:
        chunks = _chunks(server, stream_options={"include_usage": True})
    texts = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    assert "".join(text for text in texts if text) == _LONG
    assert len(texts) > 10
    assert chunks[-1].usage.total_tokens == 15
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"


def test_a_stream_without_usage_wanted_has_none() -> None:
    with ModelServer(["Paris"]) as server:
        chunks = _chunks(server)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Paris"
    assert all(chunk.usage is None for chunk in chunks)


def test_streamed_calls_are_put_together_by_the_sdk() -> None:
    calls = (ToolCall("search", {"q": "x" * 50}), ToolCall("close", {}))
    with (
        ModelServer([ToolCallReply(calls)]) as server,
        _client(server) as client,
        client.chat.completions.stream(
            model="gpt-x", messages=_HELLO, tools=[_tool("search", "q"), _tool("close")]
        ) as stream,
    ):
        message = stream.get_final_completion().choices[0].message
    assert [(call.function.name, call.function.arguments) for call in message.tool_calls] == [
        ("search", '{"q": "' + "x" * 50 + '"}'),
        ("close", "{}"),
    ]


def test_a_streamed_refusal_is_no_content() -> None:
    with ModelServer([RefusalReply("Certainly not.")]) as server:
        deltas = [chunk.choices[0].delta for chunk in _chunks(server)]
    assert "".join(delta.refusal or "" for delta in deltas) == "Certainly not."
    assert not any(delta.content for delta in deltas)


def test_azure_names_the_deployment_in_the_path() -> None:
    with (
        ModelServer(answer="ok") as server,
        openai.AzureOpenAI(
            azure_endpoint=server.url, api_key="k", api_version="2024-10-21", max_retries=0
        ) as client,
    ):
        answer = client.chat.completions.create(model="my-gpt", messages=_HELLO)
        (request,) = server.requests
    assert answer.choices[0].message.content == "ok"
    assert request.path == "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
    assert (request.model, request.headers["api-key"]) == ("my-gpt", "k")


def test_models_are_listed_without_using_up_the_script() -> None:
    with ModelServer(["Paris"]) as server, _client(server) as client:
        assert [model.id for model in client.models.list()] == ["scripted"]
        assert server.requests == []
        assert _ask(server).choices[0].message.content == "Paris"
