"""Whether an answer has the form that was asked for.

Only what our own questions use of JSON Schema: type, enum, properties, required, items,
additionalProperties, minimum and maximum.
"""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.snapshot import Json, JsonObject

__all__ = ["fault_in"]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def fault_in(value: Json, schema: JsonObject, where: str = "the answer") -> str | None:
    """The first thing in `value` that does not fit `schema`, in words; None if all does."""
    return next(_faults(value, schema, where), None)


def _faults(value: Json, schema: JsonObject, where: str) -> Iterator[str]:
    wanted = schema.get("type")
    if isinstance(wanted, str) and not _is(value, wanted):
        yield f"{where} is {_shown(value)}, not {'an' if wanted[0] in 'aio' else 'a'} {wanted}"
        return
    allowed = schema.get("enum")
    if isinstance(allowed, list) and not any(_equal(value, item) for item in allowed):
        yield f"{where} is {_shown(value)}, not one of {', '.join(map(str, allowed))}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _out_of_range(value, schema, where)
    if isinstance(value, dict):
        yield from _object_faults(value, schema, where)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        for place, item in enumerate(value, 1):
            yield from _faults(item, items, f"item {place} of {where}")


def _out_of_range(value: float, schema: JsonObject, where: str) -> Iterator[str]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(low, (int, float)) and value < low:
        yield f"{where} is {value}, below {low}"
    if isinstance(high, (int, float)) and value > high:
        yield f"{where} is {value}, above {high}"


def _object_faults(value: JsonObject, schema: JsonObject, where: str) -> Iterator[str]:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    missing = [str(n) for n in required if n not in value] if isinstance(required, list) else []
    if missing:
        yield f"{where} left out {', '.join(missing)}"
    if schema.get("additionalProperties") is False:
        unknown = [name for name in value if name not in properties]
        if unknown:
            yield f"{where} has {_shown(unknown[0])}, which was not asked for"
    for name, part in properties.items():
        if name in value and isinstance(part, dict):
            yield from _faults(value[name], part, f"{name} in {where}")


def _equal(value: Json, other: Json) -> bool:
    """As JSON has it: true is not 1."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _is(value: Json, wanted: str) -> bool:
    if isinstance(value, bool) and wanted != "boolean":
        return False
    return isinstance(value, _TYPES.get(wanted, (object,)))


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"
