from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from rampart import (
    Channel,
    EvalContext,
    EvalOutcome,
    EvalResult,
    ObservabilityLevel,
    Payload,
    PayloadFormat,
    Request,
    Response,
    SideEffect,
    ToolCall,
    TranscriptScope,
    Turn,
)


def turn(text: str, *calls: str, effects: tuple[str, ...] = ()) -> Turn:
    response = Response(
        text=text,
        tool_calls=[ToolCall(name=name) for name in calls],
        side_effects=[SideEffect(kind=kind) for kind in effects],
    )
    return Turn(request=Request(prompt="?"), response=response)


@pytest.mark.parametrize("format_", PayloadFormat)
def test_a_payload_format_is_either_text_or_a_file(format_: PayloadFormat) -> None:
    text = {PayloadFormat.TEXT, PayloadFormat.HTML, PayloadFormat.MARKDOWN}
    assert format_.is_text == (format_ in text)
    assert format_.is_binary != format_.is_text
    assert format_.extension.startswith(".")


def test_payload_ids_are_twelve_hex_digits_and_differ() -> None:
    ids = {Payload(content="x").id for _ in range(50)}
    assert len(ids) == 50
    assert all(len(id_) == 12 and int(id_, 16) >= 0 for id_ in ids)


def test_a_binary_payload_requires_an_artifact() -> None:
    with pytest.raises(TypeError, match="'docx' requires an artifact"):
        Payload(content="x", format=PayloadFormat.DOCX)


def test_a_text_payload_has_no_artifact(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="artifact must be None"):
        Payload(content="x", artifact=tmp_path)


@pytest.mark.parametrize("name", ["missing.docx", "."])
def test_an_artifact_that_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Payload(content="x", format=PayloadFormat.DOCX, artifact=tmp_path / name)


def test_format_and_artifact_of_the_wrong_kind_are_named() -> None:
    with pytest.raises(TypeError, match="must be a PayloadFormat, not 'docx'"):
        Payload(content="x", format="docx")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"must be a pathlib.Path, not '/etc/passwd'"):
        Payload(content="x", format=PayloadFormat.PDF, artifact="/etc/passwd")  # type: ignore[arg-type]


def test_a_binary_payload_with_its_file_is_accepted(tmp_path: Path) -> None:
    artifact = tmp_path / "a.docx"
    artifact.write_bytes(b"PK")
    payload = Payload(content="x", format=PayloadFormat.DOCX, artifact=artifact)
    assert payload.artifact == artifact


def test_a_recorded_payload_is_not_looked_for() -> None:
    gone = Path("/nowhere/a.docx")
    payload = Payload.recorded(
        content="x", id="1", format=PayloadFormat.DOCX, artifact=gone, metadata={}
    )
    assert (payload.artifact, payload.format) == (gone, PayloadFormat.DOCX)


def test_a_payload_as_text_is_its_first_200_characters() -> None:
    assert str(Payload(content="x" * 200)) == "x" * 200
    assert str(Payload(content="x" * 201)) == "x" * 200 + "..."


def test_a_request_needs_a_prompt_or_an_attachment() -> None:
    with pytest.raises(ValueError, match="at least"):
        Request()
    assert Request(prompt="").prompt == ""
    assert Request(attachments=[Payload(content="x")]).prompt is None


def test_a_turn_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        turn("x").turn_number = 1  # type: ignore[misc]


@pytest.mark.parametrize("confidence", [-0.1, 1.1, 7, float("nan"), float("inf")])
def test_a_confidence_outside_0_to_1_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"in \[0, 1\], not"):
        EvalResult(outcome=EvalOutcome.DETECTED, confidence=confidence)


def test_an_outcome_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="not 'detected'"):
        EvalResult(outcome="detected")  # type: ignore[arg-type]


@pytest.mark.parametrize("outcome", EvalOutcome)
def test_only_detected_is_detected(outcome: EvalOutcome) -> None:
    assert EvalResult(outcome=outcome).detected == (outcome is EvalOutcome.DETECTED)


def test_a_context_flattens_what_was_done_in_all_turns() -> None:
    context = EvalContext(turns=[turn("a", "one", effects=("x",)), turn("b", "two")])
    assert [call.name for call in context.all_tool_calls] == ["one", "two"]
    assert [effect.kind for effect in context.all_side_effects] == ["x"]
    assert context.text == "b"


def test_an_empty_context_has_no_current_turn_and_nothing_done() -> None:
    context = EvalContext(turns=[])
    assert context.all_tool_calls == []
    assert context.all_side_effects == []
    for name in ("current_turn", "text", "texts"):
        with pytest.raises(ValueError, match="No turns"):
            getattr(context, name)


def test_the_scope_says_which_texts_count() -> None:
    turns = [turn("a"), turn("b")]
    assert EvalContext(turns=turns).texts == ["b"]
    assert EvalContext(turns=turns, scope=TranscriptScope.FULL).texts == ["a", "b"]


def test_a_context_from_a_response_has_one_turn() -> None:
    context = EvalContext.from_response(response=Response(text="hi"), prompt="hello")
    assert (context.text, context.current_turn.request.prompt) == ("hi", "hello")


@pytest.mark.parametrize(
    ("level", "seen"),
    [
        (None, {Channel.TEXT, Channel.TOOL_CALLS, Channel.SIDE_EFFECTS}),
        (ObservabilityLevel.RESPONSE_ONLY, {Channel.TEXT}),
        (ObservabilityLevel.TOOL_ONLY, {Channel.TEXT, Channel.TOOL_CALLS}),
        (ObservabilityLevel.TOOL_AND_SIDE_EFFECTS, set(Channel)),
    ],
)
def test_a_context_sees_what_the_level_says(
    level: ObservabilityLevel | None, seen: set[Channel]
) -> None:
    context = EvalContext(turns=[], observability=level)
    assert {channel for channel in Channel if context.sees(channel)} == seen


def test_a_context_tells_what_was_reported_from_what_is_seen() -> None:
    context = EvalContext(turns=[turn("a", "call")], observability=ObservabilityLevel.RESPONSE_ONLY)
    reported = {channel for channel in Channel if context.has_observed(channel)}
    assert reported == {Channel.TEXT, Channel.TOOL_CALLS}
