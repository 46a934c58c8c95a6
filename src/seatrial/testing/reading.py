"""Parts of a request's JSON, taken with the check that a provider would make."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from seatrial.snapshot import Json, JsonObject
from seatrial.testing.question import OfferedTool

__all__ = [
    "UnreadableRequestError",
    "called",
    "forced_among",
    "items_of",
    "object_of",
    "optional_text",
    "parts_of",
    "read_json",
    "text_of",
]


class UnreadableRequestError(ValueError):
    """A provider would not understand this request; the message says where and why."""


def read_json(body: bytes) -> JsonObject:
    """The request's body.

    Raises:
        UnreadableRequestError: If it is not a JSON object.
    """
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except RecursionError:
        raise UnreadableRequestError("the body is nested too deeply") from None
    except ValueError as error:
        raise UnreadableRequestError(f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UnreadableRequestError(
            f"the body is a JSON {type(value).__name__}: expected an object"
        )
    return value


def _refuse_constant(name: str) -> None:
    raise UnreadableRequestError(f"{name} is not JSON")


def text_of(container: JsonObject, name: str) -> str:
    """The text under `name`.

    Raises:
        UnreadableRequestError: If there is none.
    """
    value = container.get(name)
    if not isinstance(value, str):
        raise UnreadableRequestError(f"{name}: expected text, not {_kind(value)}")
    return value


def object_of(container: JsonObject, name: str) -> JsonObject:
    """The object under `name`; empty if it is missing.

    Raises:
        UnreadableRequestError: If it is something else.
    """
    value = container.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UnreadableRequestError(f"{name}: expected an object, not {_kind(value)}")
    return value


def items_of(container: JsonObject, name: str) -> list[JsonObject]:
    """The objects in the list under `name`; none if it is missing.

    Raises:
        UnreadableRequestError: If it is not a list, or one of its items not an object.
    """
    value = container.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise UnreadableRequestError(f"{name}: expected a list, not {_kind(value)}")
    items = []
    for position, item in enumerate(value):
        if not isinstance(item, dict):
            raise UnreadableRequestError(
                f"{name}[{position}]: expected an object, not {_kind(item)}"
            )
        items.append(item)
    return items


def parts_of(content: Json) -> Iterator[str]:
    """The text of a message's content, part by part; other parts as their type in brackets."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, dict):
                text = part.get("text", part.get("refusal"))
                yield text if isinstance(text, str) else f"[{part.get('type')}]"
            else:
                yield str(part)
    elif content is not None:
        raise UnreadableRequestError(f"content: expected text or a list, not {_kind(content)}")


def called(name: Json, arguments: Json) -> str:
    """A tool call as text."""
    shown = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return f"{name}({shown})"


def forced_among(tools: tuple[OfferedTool, ...], names: Iterable[Json]) -> tuple[OfferedTool, ...]:
    """Those of `tools` that `names` name.

    Raises:
        UnreadableRequestError: If a name is none of them.
    """
    wanted = list(names)
    offered = [tool.name for tool in tools]
    for name in wanted:
        if name not in offered:
            raise UnreadableRequestError(f"tool_choice: {name!r} is none of the tools {offered}")
    return tuple(tool for tool in tools if tool.name in wanted)


def optional_text(container: JsonObject, name: str) -> str:
    """The text under `name`, or none: for what is only shown."""
    value = container.get(name)
    return value if isinstance(value, str) else ""


def _kind(value: Json) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
