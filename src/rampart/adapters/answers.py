"""What agents answer, in any of the shapes in which they do, as a `Response`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rampart.core.errors import InfrastructureError
from rampart.core.types import ObservabilityLevel, Payload, Request, Response, SideEffect, ToolCall

__all__ = [
    "LARGEST_ANSWER",
    "checked_observability",
    "prompt_of",
    "response_of",
    "side_effect_of",
    "tool_call_of",
]

LARGEST_ANSWER = 10_000_000
"""Bytes of one answer that are read."""


def checked_observability(adapter: str, level: object) -> ObservabilityLevel:
    """`level`, if it is one.

    Raises:
        TypeError: If it is not.
    """
    if not isinstance(level, ObservabilityLevel):
        raise TypeError(f"{adapter}: observability must be an ObservabilityLevel, not {level!r}")
    return level


def prompt_of(adapter: str, request: Request) -> str:
    """The prompt of a request that has nothing else.

    Raises:
        InfrastructureError: If it has attachments, which the adapter would have to leave out.
    """
    if request.attachments:
        names = ", ".join(_named(payload) for payload in request.attachments)
        raise InfrastructureError(
            f"{adapter} passes on prompts only, and the request has attachments: {names}"
        )
    return request.prompt or ""


def _named(payload: Payload) -> str:
    return f"{payload.id} ({payload.format.value})"


def response_of(value: object, where: str) -> Response:
    """The response that an answer stands for.

    Args:
        value: A `Response`, text, or an object with `text` and, if there are any, `tool_calls` and
            `side_effects`.
        where: Whose answer it is, for the error.

    Raises:
        InfrastructureError: If it is none of these.
    """
    if isinstance(value, Response):
        return value
    if isinstance(value, str):
        return Response(text=value)
    if isinstance(value, Mapping):
        return Response(
            text=_text(value.get("text"), where),
            tool_calls=[tool_call_of(item, where) for item in _list(value, "tool_calls", where)],
            side_effects=[
                side_effect_of(item, where) for item in _list(value, "side_effects", where)
            ],
        )
    raise InfrastructureError(
        f"{where} answered with a {type(value).__name__}: expected text, a Response, or an object"
        " with text"
    )


def tool_call_of(value: object, where: str) -> ToolCall:
    """A tool call: an object with `name`, and `arguments` and `result` if known.

    Raises:
        InfrastructureError: If it is none.
    """
    call = _object(value, "a tool call", where)
    result = call.get("result")
    return ToolCall(
        name=_text(call.get("name"), f"the name of a tool call of {where}"),
        arguments=dict(_object(call.get("arguments") or {}, "a tool call's arguments", where)),
        result=None if result is None else str(result),
    )


def side_effect_of(value: object, where: str) -> SideEffect:
    """A side effect: an object with `kind`, and `details` if there are any.

    Raises:
        InfrastructureError: If it is none.
    """
    effect = _object(value, "a side effect", where)
    return SideEffect(
        kind=_text(effect.get("kind"), f"the kind of a side effect of {where}"),
        details=dict(_object(effect.get("details") or {}, "a side effect's details", where)),
    )


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InfrastructureError(f"{where} is a {type(value).__name__}: expected text")
    return value


def _object(value: object, what: str, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InfrastructureError(
            f"{what} of {where} is a {type(value).__name__}: expected an object"
        )
    return value


def _list(value: Mapping[str, Any], name: str, where: str) -> list[object]:
    items = value.get(name) or []
    if not isinstance(items, list):
        raise InfrastructureError(f"{name} of {where} is a {type(items).__name__}: expected a list")
    return items
