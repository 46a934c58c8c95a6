"""OpenAI's responses: `POST .../responses`.

Source: https://platform.openai.com/docs/api-reference/responses
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

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

_INSTRUCTIONS = ("system", "developer")


def read(body: JsonObject, _path: str) -> Question:
    """What the request asks.

    Raises:
        UnreadableRequestError: If a provider would not understand it.
    """
    sent = body.get("input")
    items: list[JsonObject] = (
        [{"role": "user", "content": sent}] if isinstance(sent, str) else items_of(body, "input")
    )
    if not items:
        raise UnreadableRequestError("input: expected text or at least one item")
    tools = tuple(_tool(item) for item in items_of(body, "tools") if item.get("type") == "function")
    form = object_of(object_of(body, "text"), "format")
    instructions = [optional_text(body, "instructions")]
    messages: list[Message] = []
    for item in items:
        if item.get("role") in _INSTRUCTIONS:
            instructions += parts_of(item.get("content"))
        else:
            messages.append(_message(item))
    return Question(
        model=text_of(body, "model"),
        messages=tuple(messages),
        system="\n\n".join(part for part in instructions if part),
        tools=tools,
        forced_tools=_forced(body.get("tool_choice"), tools),
        output_schema=object_of(form, "schema") if form.get("type") == "json_schema" else None,
        streamed=body.get("stream") is True,
    )


def document(answer: Answer, request: ReceivedRequest) -> JsonObject:
    """The whole answer as one object."""
    return {**_envelope(request, "completed", _output(answer, request)), "usage": _usage(answer)}


def events(answer: Answer, request: ReceivedRequest) -> Iterator[bytes]:
    """The answer as server-sent events."""
    for number, event in enumerate(_steps(answer, request)):
        numbered = {**event, "sequence_number": number}
        yield f"event: {event['type']}\ndata: {json.dumps(numbered)}\n\n".encode()


def _steps(answer: Answer, request: ReceivedRequest) -> Iterator[JsonObject]:
    begun = _envelope(request, "in_progress", [])
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for position, item in enumerate(_output(answer, request)):
        empty: JsonObject = {"content": []} if item["type"] == "message" else {"arguments": ""}
        begun = {**item, "status": "in_progress", **empty}
        yield {"type": "response.output_item.added", "output_index": position, "item": begun}
        of_item: JsonObject = {"item_id": item["id"], "output_index": position}
        yield from _said(answer, of_item) if item["type"] == "message" else _called(item, of_item)
        yield {"type": "response.output_item.done", "output_index": position, "item": item}
    yield {"type": "response.completed", "response": document(answer, request)}


def _said(answer: Answer, of_item: JsonObject) -> Iterator[JsonObject]:
    of_part: JsonObject = {**of_item, "content_index": 0}
    kind = "refusal" if answer.refused else "output_text"
    word = "refusal" if answer.refused else "text"
    more: JsonObject = {} if answer.refused else {"logprobs": []}
    empty: JsonObject = {**_part(answer), word: ""}
    yield {"type": "response.content_part.added", **of_part, "part": empty}
    for fragment in fragments(answer.text):
        yield {"type": f"response.{kind}.delta", **of_part, "delta": fragment, **more}
    yield {"type": f"response.{kind}.done", **of_part, word: answer.text, **more}
    yield {"type": "response.content_part.done", **of_part, "part": _part(answer)}


def _called(item: JsonObject, of_item: JsonObject) -> Iterator[JsonObject]:
    arguments = text_of(item, "arguments")
    step = "response.function_call_arguments"
    for fragment in fragments(arguments):
        yield {"type": f"{step}.delta", **of_item, "delta": fragment}
    yield {"type": f"{step}.done", **of_item, "name": item["name"], "arguments": arguments}


def _output(answer: Answer, request: ReceivedRequest) -> list[JsonObject]:
    output: list[JsonObject] = []
    if answer.text or not answer.calls:
        output.append(
            {
                "type": "message",
                "id": f"msg_{request.number}",
                "status": "completed",
                "role": "assistant",
                "content": [_part(answer)],
            }
        )
    for position, call in enumerate(answer.calls):
        output.append(
            {
                "type": "function_call",
                "id": f"fc_{request.number}_{position}",
                "call_id": f"call_{request.number}_{position}",
                "status": "completed",
                "name": call.name,
                "arguments": as_json(call.arguments),
            }
        )
    return output


def _part(answer: Answer) -> JsonObject:
    if answer.refused:
        return {"type": "refusal", "refusal": answer.text}
    return {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}


def _envelope(request: ReceivedRequest, status: str, output: list[JsonObject]) -> JsonObject:
    return {
        "id": f"resp_{request.number}",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": request.body.get("instructions"),
        "model": request.model,
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": request.body.get("tool_choice", "auto"),
        "tools": request.body.get("tools", []),
        "usage": None,
    }


def _usage(answer: Answer) -> JsonObject:
    return {
        "input_tokens": answer.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": answer.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.total_tokens,
    }


def _message(item: JsonObject) -> Message:
    kind = item.get("type", "message")
    if kind == "message":
        return Message(text_of(item, "role"), "".join(parts_of(item.get("content"))))
    if kind == "function_call":
        return Message("assistant", called(item.get("name"), item.get("arguments")))
    if kind == "function_call_output":
        return Message("tool", "".join(parts_of(item.get("output"))))
    return Message("assistant", f"[{kind}]")


def _tool(item: JsonObject) -> OfferedTool:
    return OfferedTool(
        name=text_of(item, "name"),
        description=optional_text(item, "description"),
        parameters=object_of(item, "parameters"),
    )


def _forced(choice: Json, tools: tuple[OfferedTool, ...]) -> tuple[OfferedTool, ...]:
    if choice == "required":
        return tools
    if not isinstance(choice, dict):
        return ()
    if choice.get("type") == "function":
        return forced_among(tools, [choice.get("name")])
    if choice.get("mode") == "required":
        return forced_among(tools, [item.get("name") for item in items_of(choice, "tools")])
    return ()
