"""Anthropic's messages: `POST .../messages`.

Source: https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from seatrial.snapshot import Json, JsonObject
from seatrial.testing.answer import Answer, fragments
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

_ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def read(body: JsonObject, _path: str) -> Question:
    """What the request asks.

    Raises:
        UnreadableRequestError: If a provider would not understand it.
    """
    if not isinstance(body.get("max_tokens"), int):
        raise UnreadableRequestError("max_tokens: expected a whole number")
    messages = [message for item in items_of(body, "messages") for message in _messages(item)]
    if not messages:
        raise UnreadableRequestError("messages: expected at least one")
    # Tools that Anthropic runs itself have no schema, and are nobody's to call here.
    offered = [item for item in items_of(body, "tools") if "input_schema" in item]
    tools = tuple(_tool(item) for item in offered)
    form = object_of(object_of(body, "output_config"), "format") or object_of(body, "output_format")
    return Question(
        model=text_of(body, "model"),
        messages=tuple(messages),
        system="\n\n".join(parts_of(body.get("system"))),
        tools=tools,
        forced_tools=_forced(object_of(body, "tool_choice"), tools),
        output_schema=object_of(form, "schema") if form.get("type") == "json_schema" else None,
        streamed=body.get("stream") is True,
    )


def document(answer: Answer, request: ReceivedRequest) -> JsonObject:
    """The whole answer as one object."""
    return {
        **_envelope(answer, request),
        "content": list(_blocks(answer, request)),
        **_stop(answer),
        "usage": _usage(answer, answer.output_tokens),
    }


def events(answer: Answer, request: ReceivedRequest) -> Iterator[bytes]:
    """The answer as server-sent events."""
    for event in _steps(answer, request):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def error(status: int, message: str) -> JsonObject:
    """The body of an error response."""
    other = "api_error" if status >= 500 else "invalid_request_error"
    kind = _ERROR_TYPES.get(status, other)
    return {"type": "error", "error": {"type": kind, "message": message}}


def _steps(answer: Answer, request: ReceivedRequest) -> Iterator[JsonObject]:
    yield {"type": "message_start", "message": _envelope(answer, request)}
    yield {"type": "ping"}
    for index, block in enumerate(_blocks(answer, request)):
        spoken = block["type"] == "text"
        empty: JsonObject = {**block, "text": ""} if spoken else {**block, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        if spoken:
            for fragment in fragments(answer.text):
                delta: JsonObject = {"type": "text_delta", "text": fragment}
                yield {"type": "content_block_delta", "index": index, "delta": delta}
        else:
            given = block["input"]
            for fragment in fragments(given if isinstance(given, str) else json.dumps(given)):
                delta = {"type": "input_json_delta", "partial_json": fragment}
                yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    usage: JsonObject = {"output_tokens": answer.output_tokens}
    yield {"type": "message_delta", "delta": _stop(answer), "usage": usage}
    yield {"type": "message_stop"}


def _envelope(answer: Answer, request: ReceivedRequest) -> JsonObject:
    return {
        "id": f"msg_{request.number}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(answer, 1),
    }


def _blocks(answer: Answer, request: ReceivedRequest) -> Iterator[JsonObject]:
    if answer.text or not answer.calls:
        yield {"type": "text", "text": answer.text}
    for position, call in enumerate(answer.calls):
        yield {
            "type": "tool_use",
            "id": f"toolu_{request.number}_{position}",
            "name": call.name,
            "input": call.arguments,
        }


def _stop(answer: Answer) -> JsonObject:
    if answer.refused:
        details: JsonObject = {"type": "refusal", "category": None, "explanation": answer.text}
        return {"stop_reason": "refusal", "stop_sequence": None, "stop_details": details}
    reason = "tool_use" if answer.calls else "end_turn"
    return {"stop_reason": reason, "stop_sequence": None}


def _usage(answer: Answer, output_tokens: int) -> JsonObject:
    return {"input_tokens": answer.input_tokens, "output_tokens": output_tokens}


def _messages(item: JsonObject) -> Iterator[Message]:
    """A turn's texts, and each use or result of a tool in it as a message of its own."""
    role = text_of(item, "role")
    content = item.get("content")
    if not isinstance(content, list):
        yield Message(role, "".join(parts_of(content)))
        return
    texts: list[Json] = []
    for block in items_of(item, "content"):
        if block.get("type") in ("tool_use", "tool_result"):
            if texts:
                yield Message(role, "".join(parts_of(texts)))
                texts = []
            yield _tool_message(block)
        else:
            texts.append(block)
    if texts:
        yield Message(role, "".join(parts_of(texts)))


def _tool_message(block: JsonObject) -> Message:
    if block["type"] == "tool_use":
        return Message("assistant", called(block.get("name"), block.get("input")))
    return Message("tool", "".join(parts_of(block.get("content"))))


def _tool(item: JsonObject) -> OfferedTool:
    return OfferedTool(
        name=text_of(item, "name"),
        description=optional_text(item, "description"),
        parameters=object_of(item, "input_schema"),
    )


def _forced(choice: JsonObject, tools: tuple[OfferedTool, ...]) -> tuple[OfferedTool, ...]:
    if choice.get("type") == "any":
        return tools
    if choice.get("type") == "tool":
        return forced_among(tools, [choice.get("name")])
    return ()
