from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rampart import (
    Channel,
    EvalOutcome,
    EvalResult,
    HarmCategory,
    InjectionRecord,
    ObservabilityLevel,
    Payload,
    PayloadFormat,
    Request,
    Response,
    Result,
    SafetyStatus,
    SideEffect,
    ToolCall,
    Turn,
)
from rampart.documents import result_from_document, result_to_document
from seatrial.errors import CodecError

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
GONE = Path("/another/machine/a.docx")


def full_result() -> Result:
    attachment = Payload.recorded(
        content="c", id="p1", format=PayloadFormat.DOCX, artifact=GONE, metadata={"k": [1]}
    )
    turn = Turn(
        request=Request(prompt="hi", attachments=[attachment]),
        response=Response(
            text="yo\x1b[31m",
            tool_calls=[ToolCall(name="t", arguments={"a": 1}, result="r", timestamp=NOON)],
            side_effects=[SideEffect(kind="s", details={"d": None})],
            metadata={"m": 1.5},
        ),
        eval_result=EvalResult(
            outcome=EvalOutcome.DETECTED,
            confidence=0.25,
            evidence=["e"],
            rationale="why",
            unseen=frozenset({Channel.TOOL_CALLS}),
        ),
        turn_number=3,
        timestamp=NOON,
        driver_reasoning="because",
    )
    return Result(
        status=SafetyStatus.UNSAFE,
        summary="bad",
        turns=[turn],
        duration_seconds=1.25,
        harm_category=HarmCategory.JAILBREAK,
        other_harm_categories=["custom"],
        strategy="xpia",
        observability_level=ObservabilityLevel.TOOL_ONLY,
        injections=[InjectionRecord(payload_id=None, surface_name="wiki", delivered=True)],
        metadata={"x": {"y": [True]}},
        notes=["n"],
        ended="the driver had nothing more to say",
        decided_by=0,
    )


def test_everything_survives_the_way_out_and_back() -> None:
    result = full_result()
    document = result_to_document(result)
    assert result_from_document(json.loads(json.dumps(document, allow_nan=False))) == result


def test_a_document_has_one_shape() -> None:
    document = result_to_document(Result(status=SafetyStatus.SAFE, summary="fine"))
    assert document == {
        "status": "safe",
        "summary": "fine",
        "harm_category": None,
        "other_harm_categories": [],
        "strategy": "",
        "observability_level": "response_only",
        "duration_seconds": 0.0,
        "injections": [],
        "metadata": {},
        "notes": [],
        "ended": "",
        "decided_by": None,
        "turns": [],
    }
    assert set(result_to_document(full_result())) == set(document)


def test_a_document_shares_nothing_with_the_result() -> None:
    result = full_result()
    document = result_to_document(result)
    before = json.dumps(document)
    result.metadata["x"]["y"].append("later")
    result.turns[0].response.tool_calls[0].arguments["a"] = 2
    result.turns.clear()
    assert json.dumps(document) == before


def test_a_known_category_comes_back_as_its_member() -> None:
    for category in (HarmCategory.DATA_LEAKAGE, "data_leakage"):
        result = Result(status=SafetyStatus.SAFE, summary="x", harm_category=category)
        back = result_from_document(result_to_document(result)).harm_category
        assert back is HarmCategory.DATA_LEAKAGE


def with_turn(**response: Any) -> Result:
    result = full_result()
    for name, value in response.items():
        setattr(result.turns[0].response, name, value)
    return result


class Explodes:
    def __repr__(self) -> str:
        raise RuntimeError("boom")

    def __iter__(self) -> Any:
        raise RuntimeError("boom")


class ExplodingDict(dict[str, object]):
    def items(self) -> Any:
        raise RuntimeError("boom")


def cycle() -> dict[str, object]:
    itself: dict[str, object] = {}
    itself["me"] = itself
    return itself


@pytest.mark.parametrize(
    "odd",
    [
        float("nan"),
        float("inf"),
        b"bytes",
        {1, 2},
        {("a", 1): "tuple key"},
        cycle(),
        object(),
        NOON,
        10**5000,
        "lone \ud800 surrogate",
        "x" * 2_000_000,
        None,
        5,
        ["list"],
        Explodes(),
        ExplodingDict(a=1),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("place", ["text", "metadata", "tool_calls", "side_effects", "summary"])
def test_odd_content_never_stops_a_result_from_being_recorded(odd: object, place: str) -> None:
    result = full_result()
    if place == "summary":
        result.summary = odd  # type: ignore[assignment]
    else:
        setattr(result.turns[0].response, place, odd)
    document = result_to_document(result)
    json.dumps(document, allow_nan=False)
    assert result_from_document(document).status is SafetyStatus.UNSAFE


def test_a_part_that_cannot_be_read_costs_no_verdict_and_is_noted() -> None:
    document = result_to_document(with_turn(tool_calls=5))
    assert (document["status"], document["summary"]) == ("unsafe", "bad")
    assert document["turns"] == []
    (note,) = document["notes"]  # type: ignore[misc]
    assert str(note).startswith("turns and metadata could not be recorded: TypeError")


def test_a_status_that_is_none_counts_as_an_error() -> None:
    result = full_result()
    result.status = "safe"  # type: ignore[assignment]
    assert result_to_document(result)["status"] == "error"


@pytest.mark.parametrize(
    "damage",
    [
        {"status": "fine"},
        {"observability_level": None},
        {"summary": 5},
        {"turns": [{}]},
        {"turns": None},
        {"metadata": []},
        {"duration_seconds": "long"},
        {"harm_category": 5},
    ],
)
def test_a_damaged_document_is_refused(damage: dict[str, Any]) -> None:
    document = result_to_document(full_result()) | damage
    with pytest.raises(CodecError, match="not a safety result"):
        result_from_document(document)


def test_a_document_that_lacks_a_part_is_refused() -> None:
    with pytest.raises(CodecError, match="KeyError"):
        result_from_document({"status": "safe"})
