"""Chat messages as a case's input, and the check that they form a conversation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, NoReturn, NotRequired, TypeAlias, TypedDict, cast

from kensa.errors import KensaCaseError
from seatrial.text import one_line

__all__ = [
    "KensaAssistantMessage",
    "KensaDeveloperMessage",
    "KensaFunctionCall",
    "KensaMessage",
    "KensaSystemMessage",
    "KensaToolCall",
    "KensaToolMessage",
    "KensaUserMessage",
    "checked_messages",
]


class KensaFunctionCall(TypedDict):
    """Which function the model wants called; `arguments` is the text of a JSON object."""

    name: str
    arguments: str


class KensaToolCall(TypedDict):
    """One call that an assistant message asks for; a tool message answers it by `id`."""

    id: str
    type: Literal["function"]
    function: KensaFunctionCall


class KensaDeveloperMessage(TypedDict):
    """Instructions from who built the application."""

    role: Literal["developer"]
    content: str
    name: NotRequired[str]


class KensaSystemMessage(TypedDict):
    """Instructions from who runs the model."""

    role: Literal["system"]
    content: str
    name: NotRequired[str]


class KensaUserMessage(TypedDict):
    """What the user said."""

    role: Literal["user"]
    content: str
    name: NotRequired[str]


class KensaAssistantMessage(TypedDict):
    """What the model said; with tool calls it may have said nothing."""

    role: Literal["assistant"]
    content: NotRequired[str | None]
    name: NotRequired[str]
    tool_calls: NotRequired[list[KensaToolCall]]


class KensaToolMessage(TypedDict):
    """What a tool answered."""

    role: Literal["tool"]
    tool_call_id: str
    content: str


KensaMessage: TypeAlias = (
    KensaDeveloperMessage
    | KensaSystemMessage
    | KensaUserMessage
    | KensaAssistantMessage
    | KensaToolMessage
)

_KEYS = {
    "developer": {"role", "content", "name"},
    "system": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls"},
    "tool": {"role", "tool_call_id", "content"},
}


def checked_messages(messages: object) -> list[KensaMessage]:
    """A copy of the messages, if they form a conversation.

    Every tool call is answered by a tool message, before any other message and before the end.

    Raises:
        KensaCaseError: If they do not; the message gives the path to what is wrong.
    """
    if not isinstance(messages, (list, tuple)):
        _refuse("messages", f"expected a list, not {_shown(messages)}")
    if not messages:
        _refuse("messages", "expected at least one message")
    pending: list[str] = []
    for index, message in enumerate(messages):
        _check_message(message, f"messages[{index}]", pending)
    if pending:
        _refuse("messages", f"no tool message answers the tool calls {_listed(pending)}")
    return cast("list[KensaMessage]", deepcopy(list(messages)))


def _check_message(message: object, path: str, pending: list[str]) -> None:
    if not isinstance(message, dict):
        _refuse(path, f"expected a message as a dict, not {_shown(message)}")
    role = message.get("role")
    if not isinstance(role, str) or role not in _KEYS:
        _refuse(f"{path}.role", f"expected one of {', '.join(_KEYS)}, not {_shown(role)}")
    _check_keys(message, _KEYS[role], path)
    if role == "tool":
        _check_answer(message, path, pending)
        return
    if pending:
        _refuse(
            path, f"a {role} message stands before the answers to tool calls {_listed(pending)}"
        )
    if "name" in message:
        _check_text(message["name"], f"{path}.name")
    if "tool_calls" not in message:
        _check_text(message.get("content"), f"{path}.content")
        return
    if message.get("content") is not None:
        _check_text(message["content"], f"{path}.content")
    _check_calls(message["tool_calls"], f"{path}.tool_calls", pending)


def _check_answer(message: Mapping[Any, Any], path: str, pending: list[str]) -> None:
    call_id = message.get("tool_call_id")
    _check_text(call_id, f"{path}.tool_call_id", empty=False)
    _check_text(message.get("content"), f"{path}.content")
    if call_id not in pending:
        _refuse(f"{path}.tool_call_id", f"{_shown(call_id)} answers no tool call that is open")
    pending.remove(call_id)


def _check_calls(calls: object, path: str, pending: list[str]) -> None:
    if not isinstance(calls, list) or not calls:
        _refuse(path, f"expected a list of at least one tool call, not {_shown(calls)}")
    for index, call in enumerate(calls):
        _check_call(call, f"{path}[{index}]", pending)


def _check_call(call: object, path: str, pending: list[str]) -> None:
    if not isinstance(call, dict):
        _refuse(path, f"expected a tool call as a dict, not {_shown(call)}")
    _check_keys(call, {"id", "type", "function"}, path)
    call_id = call.get("id")
    if not isinstance(call_id, str) or not call_id:
        _refuse(f"{path}.id", f"expected text that is not empty, not {_shown(call_id)}")
    if call_id in pending:
        _refuse(f"{path}.id", f"{_shown(call_id)} is used twice")
    if call.get("type") != "function":
        _refuse(f"{path}.type", f'expected "function", not {_shown(call.get("type"))}')
    function = call.get("function")
    if not isinstance(function, dict):
        _refuse(f"{path}.function", f"expected a dict, not {_shown(function)}")
    _check_keys(function, {"name", "arguments"}, f"{path}.function")
    _check_text(function.get("name"), f"{path}.function.name", empty=False)
    _check_arguments(function.get("arguments"), f"{path}.function.arguments")
    pending.append(call_id)


def _check_arguments(arguments: object, path: str) -> None:
    if not isinstance(arguments, str):
        _refuse(path, f"expected the text of a JSON object, not {_shown(arguments)}")
    try:
        value = json.loads(arguments, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        _refuse(path, f"expected the text of a JSON object, not {_shown(arguments)}")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _check_keys(value: Mapping[Any, Any], allowed: set[str], path: str) -> None:
    unknown = sorted(_shown(key) for key in value if not (isinstance(key, str) and key in allowed))
    if unknown:
        _refuse(path, f"unknown keys {', '.join(unknown)}; allowed: {', '.join(sorted(allowed))}")


def _check_text(value: object, path: str, *, empty: bool = True) -> None:
    if not isinstance(value, str) or not (value or empty):
        wanted = "text" if empty else "text that is not empty"
        _refuse(path, f"expected {wanted}, not {_shown(value)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(_shown, names))


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - foreign code: the message must name the place all the same
        text = f"a {type(value).__name__} whose repr fails with {type(error).__name__}"
    return one_line(text, limit=80)


def _refuse(path: str, problem: str) -> NoReturn:
    raise KensaCaseError(f"{path}: {problem}")
