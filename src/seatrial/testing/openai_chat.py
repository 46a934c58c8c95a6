"""OpenAI's chat completions: `POST .../chat/completions`.

Source: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from urllib.parse import unquote

from seatrial.snapshot import Json, JsonObject
from seatrial.testing.answer import Answer, as_json, fragments
from seatrial.testing.openai_errors import error
from seatrial.testing.question import Message, OfferedTool, Question, ReceivedRequest
from seatrial.testing.reading import (
    UnreadableRequestError,
    called,
    forced_among,
    items_of,
    object_of,
    optional_text,
    parts_of,
    text_of,
)

__all__ = ["document", "error", "events", "read"]

_DEPLOYMENT = re.compile(r"/openai/deployments/([^/]+)/")
_INSTRUCTIONS = ("system", "developer")


def read(body: JsonObject, path: str) -> Question:
    """What the request asks; Azure names the model in the path.

    Raises:
        UnreadableRequestError: If a provider would not understand it.
    """
    deployment = _DEPLOYMENT.search(path)
    if deployment and "model" not in body:
        body = {**body, "model": unquote(deployment[1])}
    sent = items_of(body, "messages")
    if not sent:
        raise UnreadableRequestError("messages: expected at least one")
    tools = tuple(_tool(object_of(item, "function")) for item in items_of(body, "tools"))
    form = object_of(body, "response_format")
    schema = form.get("type") == "json_schema"
    return Question(
        model=text_of(body, "model"),
        messages=tuple(
            message
            for item in sent
            if item.get("role") not in _INSTRUCTIONS
            for message in _messages(item)
        ),
        system="\n\n".join(
            part
            for item in sent
            if item.get("role") in _INSTRUCTIONS
            for part in parts_of(item.get("content"))
        ),
        tools=tools,
        forced_tools=_forced(body.get("tool_choice"), tools),
        output_schema=object_of(object_of(form, "json_schema"), "schema") if schema else None,
        streamed=body.get("stream") is True,
    )


def document(answer: Answer, request: ReceivedRequest) -> JsonObject:
    """The whole answer as one object."""
    spoken = None if answer.refused else answer.text or None
    message: JsonObject = {
        "role": "assistant",
        "content": spoken,
        "refusal": answer.text if answer.refused else None,
        "annotations": [],
    }
    if answer.calls:
        message["tool_calls"] = [
            _call(request, position, call.name, as_json(call.arguments))
            for position, call in enumerate(answer.calls)
        ]
    elif spoken is None and not answer.refused:
        message["content"] = ""
    choice: JsonObject = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": _finish(answer),
    }
    return {
        **_envelope(request, "chat.completion"),
        "choices": [choice],
        "usage": _usage(answer),
    }


def events(answer: Answer, request: ReceivedRequest) -> Iterator[bytes]:
    """The answer as server-sent events."""
    envelope = _envelope(request, "chat.completion.chunk")

    def chunk(delta: JsonObject, finish: str | None = None) -> bytes:
        choice: JsonObject = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**envelope, "choices": [choice]})

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    for fragment in fragments(answer.text):
        yield chunk({"refusal" if answer.refused else "content": fragment})
    for position, call in enumerate(answer.calls):
        yield chunk(
            {"tool_calls": [{"index": position, **_call(request, position, call.name, "")}]}
        )
        for fragment in fragments(as_json(call.arguments)):
            part: JsonObject = {"index": position, "function": {"arguments": fragment}}
            yield chunk({"tool_calls": [part]})
    yield chunk({}, _finish(answer))
    if object_of(request.body, "stream_options").get("include_usage") is True:
        yield _event({**envelope, "choices": [], "usage": _usage(answer)})
    yield b"data: [DONE]\n\n"


def _messages(item: JsonObject) -> Iterator[Message]:
    role = text_of(item, "role")
    text = "".join(parts_of(item.get("content")))
    calls = [object_of(call, "function") for call in items_of(item, "tool_calls")]
    if text or not calls:
        yield Message(role, text)
    for call in calls:
        yield Message(role, called(call.get("name"), call.get("arguments")))


def _tool(function: JsonObject) -> OfferedTool:
    return OfferedTool(
        name=text_of(function, "name"),
        description=optional_text(function, "description"),
        parameters=object_of(function, "parameters"),
    )


def _forced(choice: Json, tools: tuple[OfferedTool, ...]) -> tuple[OfferedTool, ...]:
    if choice == "required":
        return tools
    if not isinstance(choice, dict):
        return ()
    if choice.get("type") == "function":
        return forced_among(tools, [object_of(choice, "function").get("name")])
    allowed = object_of(choice, "allowed_tools")
    if allowed.get("mode") == "required":
        names = [object_of(item, "function").get("name") for item in items_of(allowed, "tools")]
        return forced_among(tools, names)
    return ()


def _call(request: ReceivedRequest, position: int, name: str, arguments: str) -> JsonObject:
    return {
        "id": f"call_{request.number}_{position}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _envelope(request: ReceivedRequest, kind: str) -> JsonObject:
    return {
        "id": f"chatcmpl-{request.number}",
        "object": kind,
        "created": int(time.time()),
        "model": request.model,
    }


def _usage(answer: Answer) -> JsonObject:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.total_tokens,
    }


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _event(data: JsonObject) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()
