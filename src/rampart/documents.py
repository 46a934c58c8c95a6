"""Results as JSON documents and back: the only form in which they leave a test.

The way out is total: whatever an adapter put into a result, a document of the one shape below
comes out, and nothing in it is shared with the result. The way back rebuilds a Result that is
equal for all content that JSON can hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, cast

from rampart.core.errors import describe_error
from rampart.core.result import HarmCategory, InjectionRecord, Result, SafetyStatus
from rampart.core.types import (
    Channel,
    EvalOutcome,
    EvalResult,
    ObservabilityLevel,
    Payload,
    PayloadFormat,
    Request,
    Response,
    SideEffect,
    ToolCall,
    Turn,
)
from seatrial.errors import CodecError
from seatrial.snapshot import MAX_TEXT, Json, JsonObject, snapshot

__all__ = ["result_from_document", "result_to_document"]

_T = TypeVar("_T")


def result_to_document(result: Result) -> JsonObject:
    """The result as plain JSON; never raises.

    A part that breaks when it is read costs the turns and metadata; the verdict stays, with a note.
    """
    try:
        return _result(result)
    except Exception as error:  # noqa: BLE001 - foreign code: containers and properties in the result
        bare = Result(
            status=SafetyStatus(_member(result.status, SafetyStatus.ERROR)),
            summary=_text(result.summary),
            harm_category=_optional_text(result.harm_category),
            strategy=_text(result.strategy),
            notes=[f"turns and metadata could not be recorded: {describe_error(error)}"],
        )
        return _result(bare)


def _result(result: Result) -> JsonObject:
    return {
        "status": _member(result.status, SafetyStatus.ERROR),
        "summary": _text(result.summary),
        "harm_category": _optional_text(result.harm_category),
        "other_harm_categories": [_text(name) for name in _items(result.other_harm_categories)],
        "strategy": _text(result.strategy),
        "observability_level": _member(
            result.observability_level, ObservabilityLevel.RESPONSE_ONLY
        ),
        "duration_seconds": _number(result.duration_seconds),
        "injections": [
            {
                "payload_id": _optional_text(injection.payload_id),
                "surface_name": _text(injection.surface_name),
                "delivered": _optional_bool(injection.delivered),
            }
            for injection in _items(result.injections)
        ],
        "metadata": _object(result.metadata),
        "notes": [_text(note) for note in _items(result.notes)],
        "ended": _text(result.ended),
        "decided_by": _optional_int(result.decided_by),
        "turns": [_turn(turn) for turn in _items(result.turns)],
    }


def _turn(turn: Turn) -> JsonObject:
    request, response, evaluation = turn.request, turn.response, turn.eval_result
    return {
        "turn_number": int(turn.turn_number),
        "timestamp": _time(turn.timestamp),
        "driver_reasoning": _text(turn.driver_reasoning),
        "session_number": int(turn.session_number),
        "send_seconds": _optional_number(turn.send_seconds),
        "evaluate_seconds": _optional_number(turn.evaluate_seconds),
        "request": {
            "prompt": _optional_text(request.prompt),
            "attachments": [_payload(payload) for payload in _items(request.attachments)],
        },
        "response": {
            "text": _text(response.text),
            "tool_calls": [_tool_call(call) for call in _items(response.tool_calls)],
            "side_effects": [
                {"kind": _text(effect.kind), "details": _object(effect.details)}
                for effect in _items(response.side_effects)
            ],
            "metadata": _object(response.metadata),
        },
        "eval_result": None if evaluation is None else _evaluation(evaluation),
    }


def _payload(payload: Payload) -> JsonObject:
    return {
        "content": _text(payload.content),
        "id": _text(payload.id),
        "format": _member(payload.format, PayloadFormat.TEXT),
        "artifact": _optional_text(payload.artifact),
        "metadata": _object(payload.metadata),
    }


def _tool_call(call: ToolCall) -> JsonObject:
    return {
        "name": _text(call.name),
        "arguments": _object(call.arguments),
        "result": _optional_text(call.result),
        "timestamp": _time(call.timestamp),
    }


def _evaluation(evaluation: EvalResult) -> JsonObject:
    return {
        "outcome": _member(evaluation.outcome, EvalOutcome.UNDETERMINED),
        "confidence": _number(evaluation.confidence),
        "evidence": [_text(line) for line in _items(evaluation.evidence)],
        "rationale": _text(evaluation.rationale),
        "unseen": cast("list[Json]", sorted(str(channel) for channel in evaluation.unseen)),
    }


def _text(value: object) -> str:
    """Text as it is; anything else as its JSON image in words."""
    if type(value) is str and len(value) <= MAX_TEXT:
        return value
    shown = snapshot(str(value) if isinstance(value, Path) else value)
    return shown if isinstance(shown, str) else repr(shown)


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value)


def _number(value: object) -> float:
    if isinstance(value, (int, float)) and math.isfinite(value):
        return float(value)
    return 0.0


def _optional_number(value: object) -> float | None:
    return None if value is None else _number(value)


def _optional_int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _optional_bool(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _member(value: object, otherwise: Enum) -> str:
    return str((value if isinstance(value, type(otherwise)) else otherwise).value)


def _object(value: object) -> JsonObject:
    shown = snapshot(value)
    if isinstance(shown, dict):
        return shown
    return {} if shown is None else {"value": shown}


def _items(value: list[_T]) -> list[_T]:
    return [] if value is None else list(value)


def _time(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def result_from_document(document: JsonObject) -> Result:
    """The result that a document describes. Free text comes back as it was said: escape it.

    Payload artifacts are named, not looked for: the file may be on another machine.

    Raises:
        CodecError: If the document is not of the shape that `result_to_document` makes.
    """
    try:
        return _result_from(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CodecError(f"not a safety result: {describe_error(error)}") from error


def _result_from(document: Mapping[str, Any]) -> Result:
    category = document["harm_category"]
    return Result(
        status=SafetyStatus(document["status"]),
        summary=_checked(document["summary"], str),
        harm_category=None if category is None else _category(category),
        other_harm_categories=[_category(name) for name in document["other_harm_categories"]],
        strategy=_checked(document["strategy"], str),
        observability_level=ObservabilityLevel(document["observability_level"]),
        duration_seconds=float(document["duration_seconds"]),
        injections=[
            InjectionRecord(
                payload_id=item["payload_id"],
                surface_name=item["surface_name"],
                delivered=item["delivered"],
            )
            for item in document["injections"]
        ],
        metadata=_checked(document["metadata"], dict),
        notes=list(document["notes"]),
        ended=_checked(document["ended"], str),
        decided_by=document["decided_by"],
        turns=[_turn_from(turn) for turn in document["turns"]],
    )


def _turn_from(document: Mapping[str, Any]) -> Turn:
    request, response = document["request"], document["response"]
    evaluation = document["eval_result"]
    prompt = request["prompt"]
    attachments = [_payload_from(payload) for payload in request["attachments"]]
    return Turn(
        request=Request(prompt=prompt, attachments=attachments),
        response=Response(
            text=_checked(response["text"], str),
            tool_calls=[_tool_call_from(call) for call in response["tool_calls"]],
            side_effects=[
                SideEffect(kind=effect["kind"], details=_checked(effect["details"], dict))
                for effect in response["side_effects"]
            ],
            metadata=_checked(response["metadata"], dict),
        ),
        eval_result=None if evaluation is None else _evaluation_from(evaluation),
        turn_number=_checked(document["turn_number"], int),
        timestamp=_time_from(document["timestamp"]),
        driver_reasoning=document["driver_reasoning"],
        session_number=document["session_number"],
        send_seconds=document["send_seconds"],
        evaluate_seconds=document["evaluate_seconds"],
    )


def _payload_from(document: Mapping[str, Any]) -> Payload:
    artifact = document["artifact"]
    return Payload.recorded(
        content=document["content"],
        id=document["id"],
        format=PayloadFormat(document["format"]),
        artifact=None if artifact is None else Path(artifact),
        metadata=_checked(document["metadata"], dict),
    )


def _tool_call_from(document: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        name=_checked(document["name"], str),
        arguments=_checked(document["arguments"], dict),
        result=document["result"],
        timestamp=_time_from(document["timestamp"]),
    )


def _evaluation_from(document: Mapping[str, Any]) -> EvalResult:
    return EvalResult(
        outcome=EvalOutcome(document["outcome"]),
        confidence=document["confidence"],
        evidence=list(document["evidence"]),
        rationale=document["rationale"],
        unseen=frozenset(Channel(name) for name in document["unseen"]),
    )


def _time_from(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _category(name: str) -> HarmCategory | str:
    return HarmCategory(name) if name in set(HarmCategory) else _checked(name, str)


def _checked(value: Any, kind: type[_T]) -> _T:
    if not isinstance(value, kind):
        raise TypeError(f"expected a {kind.__name__}, not {type(value).__name__}")
    return value
