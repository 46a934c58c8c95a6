"""The one JSON form of records and plans, for the wire, the journal and artifacts.

Every document is one line of ASCII, so that it survives any channel, and carries the schema
version it was written with.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar, cast

from seatrial.errors import CodecError
from seatrial.outcome import FailureOwner, Outcome
from seatrial.run import PlannedTrial
from seatrial.snapshot import Json, JsonObject
from seatrial.trace import Span, Trace
from seatrial.trial import Amendment, Failure, TrialKey, TrialRecord

__all__ = [
    "SCHEMA_VERSION",
    "dump_amendment",
    "dump_plan",
    "dump_record",
    "load_amendment",
    "load_plan",
    "load_record",
]

SCHEMA_VERSION = 1

_T = TypeVar("_T")


def dump_record(record: TrialRecord) -> str:
    """One trial's record as one line of JSON."""
    return _dump("trial", record)


def load_record(text: str) -> TrialRecord:
    """The record that `dump_record` wrote.

    Raises:
        CodecError: If the text is damaged, or its schema version is newer than this one.
    """
    return _load("trial", text, _record)


def dump_amendment(amendment: Amendment) -> str:
    """One tear-down's amendment as one line of JSON."""
    return _dump("amendment", amendment)


def load_amendment(text: str) -> Amendment:
    """The amendment that `dump_amendment` wrote.

    Raises:
        CodecError: As for `load_record`.
    """
    return _load("amendment", text, _amendment)


def dump_plan(plan: tuple[PlannedTrial, ...]) -> str:
    """The selected trials of a session as one line of JSON."""
    return _encode({"seatrial": SCHEMA_VERSION, "kind": "plan", "trials": plan})


def load_plan(text: str) -> tuple[PlannedTrial, ...]:
    """The plan that `dump_plan` wrote.

    Raises:
        CodecError: As for `load_record`.
    """
    return _load("plan", text, lambda document: tuple(map(_planned, _list(document, "trials"))))


def _dump(kind: str, value: TrialRecord | Amendment) -> str:
    return _encode({"seatrial": SCHEMA_VERSION, "kind": kind, **_fields_of(value)})


def _fields_of(value: object) -> JsonObject:
    """The fields of one of our own dataclasses; what they hold is JSON or another of ours."""
    names = _NAMES.get(type(value))
    if names is None:
        raise TypeError(f"a {type(value).__name__} has no stored form")
    return {name: getattr(value, name) for name in names}


_NAMES: dict[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind))
    for kind in (TrialRecord, TrialKey, Failure, Trace, Span, Amendment, PlannedTrial)
}

# One encoder for all documents: json.dumps would make one for each.
_encode = json.JSONEncoder(allow_nan=False, default=_fields_of).encode


def _load(kind: str, text: str, build: Callable[[JsonObject], _T]) -> _T:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CodecError(f"not a stored {kind}: {error}") from error
    if not isinstance(document, dict) or document.get("kind") != kind:
        raise CodecError(f"not a stored {kind}: {text[:80]!r}")
    version = document.get("seatrial")
    if not isinstance(version, int) or not 1 <= version <= SCHEMA_VERSION:
        raise CodecError(
            f"this {kind} was written with schema version {version!r}; this Seatrial reads versions"
            f" 1 to {SCHEMA_VERSION}. Install a newer seatrial to read it"
        )
    try:
        return build(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CodecError(f"damaged {kind}: {type(error).__name__}: {error}") from error


def _record(document: JsonObject) -> TrialRecord:
    values = _values(document, TrialRecord)
    values["key"] = _key(_object(document, "key"))
    values["outcome"] = Outcome(values["outcome"])
    values["failure"] = _failure(values["failure"])
    values["trace"] = _trace(values["trace"])
    for name in ("results", "judgements", "model_calls", "notes", "harms"):
        values[name] = tuple(_list(document, name))
    return TrialRecord(**values)


def _values(document: JsonObject, kind: type) -> dict[str, Any]:
    return {name: document[name] for name in _NAMES[kind]}


def _amendment(document: JsonObject) -> Amendment:
    return Amendment(
        nodeid=cast("str", document["nodeid"]),
        outcome=Outcome(cast("str", document["outcome"])),
        failure=_failure(document["failure"]),
        results=tuple(_list(document, "results")),  # type: ignore[arg-type]
        model_calls=tuple(_list(document, "model_calls")),  # type: ignore[arg-type]
    )


def _key(document: JsonObject) -> TrialKey:
    return TrialKey(**_values(document, TrialKey))


def _failure(value: Json) -> Failure | None:
    if value is None:
        return None
    document = cast("JsonObject", value)
    return Failure(
        owner=FailureOwner(cast("str", document["owner"])),
        kind=cast("str", document["kind"]),
        message=cast("str", document["message"]),
    )


def _trace(value: Json) -> Trace | None:
    if value is None:
        return None
    document = cast("JsonObject", value)
    values = _values(document, Trace)
    values["spans"] = tuple(
        Span(**_values(cast("JsonObject", span), Span)) for span in _list(document, "spans")
    )
    return Trace(**values)


def _planned(value: Json) -> PlannedTrial:
    document = cast("JsonObject", value)
    return PlannedTrial(
        nodeid=cast("str", document["nodeid"]),
        key=_key(_object(document, "key")),
        name=cast("str", document["name"]),
        policy=_object(document, "policy"),
        harms=tuple(map(str, _list(document, "harms"))),
        position=cast("int", document["position"]),
    )


def _list(document: JsonObject, name: str) -> list[Json]:
    value = document[name]
    if not isinstance(value, list):
        raise TypeError(f"{name} is a {type(value).__name__}, not a list")
    return value


def _object(document: JsonObject, name: str) -> JsonObject:
    value = document[name]
    if not isinstance(value, dict):
        raise TypeError(f"{name} is a {type(value).__name__}, not an object")
    return value
