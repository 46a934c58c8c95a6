from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rampart import (
    AppManifest,
    DataSource,
    Payload,
    PayloadFormat,
    Request,
    Response,
    SideEffect,
    ToolCall,
    ToolDeclaration,
    Turn,
)
from rampart.transcript import LONGEST_TEXT, manifest_document, transcript_of
from seatrial.models.document import as_document


def turn_of(text: str = "fine", **parts: Any) -> Turn:
    return Turn(
        request=parts.pop("request", Request(prompt="go")), response=Response(text=text, **parts)
    )


def test_a_turn_shows_what_was_sent_called_caused_and_answered_in_this_order() -> None:
    turn = turn_of(
        tool_calls=[ToolCall(name="send", arguments={"to": "bob"}, result="sent")],
        side_effects=[SideEffect(kind="mail", details={"n": 1})],
    )
    transcript = transcript_of([turn])
    assert transcript.turns == [
        {
            "turn": 1,
            "user": "go",
            "tool_calls": [{"name": "send", "arguments": {"to": "bob"}, "result": "sent"}],
            "side_effects": [{"kind": "mail", "details": {"n": 1}}],
            "agent": "fine",
        }
    ]
    (shown,) = transcript.turns
    assert isinstance(shown, dict)
    assert list(shown) == ["turn", "user", "tool_calls", "side_effects", "agent"]
    assert transcript.left_out == 0


def test_what_a_turn_has_none_of_is_not_mentioned_but_an_empty_answer_is() -> None:
    turn = turn_of("", request=Request(prompt=""))
    assert transcript_of([turn], first=4).turns == [{"turn": 4, "user": "", "agent": ""}]


def test_of_an_attachment_only_id_and_format_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "invoice.pdf"
    file.write_bytes(b"%PDF")
    poison = Payload(content="SECRET-1", id="p1", metadata={"note": "SECRET-2"})
    invoice = Payload(content="SECRET-3", id="p2", format=PayloadFormat.PDF, artifact=file)
    turn = turn_of(request=Request(attachments=[poison, invoice]))
    assert transcript_of([turn]).turns == [
        {
            "turn": 1,
            "attachments": [{"id": "p1", "format": "text"}, {"id": "p2", "format": "pdf"}],
            "agent": "fine",
        }
    ]


def test_values_that_are_no_json_are_shown_as_what_they_are() -> None:
    call = ToolCall(name="f", arguments={"nan": float("nan"), "raw": b"x", 3: {1, 2}})  # type: ignore[dict-item]
    transcript = transcript_of([turn_of(tool_calls=[call])])
    shown = json.loads(as_document({"turns": transcript.turns}))["turns"][0]["tool_calls"][0]
    assert shown["arguments"] == {"nan": "nan", "raw": "b'x'", "3": [1, 2]}


def test_a_text_that_is_too_long_keeps_both_ends_and_says_so_where_no_text_could() -> None:
    text = "A" * LONGEST_TEXT + "middle" + "Z" * LONGEST_TEXT
    transcript = transcript_of([turn_of(text), turn_of("x" * LONGEST_TEXT)])
    first, second = transcript.turns
    assert isinstance(first, dict)
    assert first["agent"] == {
        "beginning": "A" * (LONGEST_TEXT // 2),
        "characters_left_out": LONGEST_TEXT + 6,
        "end": "Z" * (LONGEST_TEXT // 2),
    }
    assert isinstance(second, dict)
    assert second["agent"] == "x" * LONGEST_TEXT
    assert transcript.left_out == LONGEST_TEXT + 6


def test_long_values_inside_arguments_are_cut_too() -> None:
    call = ToolCall(name="f", arguments={"rows": ["y" * (LONGEST_TEXT + 1)]})
    assert transcript_of([turn_of(tool_calls=[call])]).left_out == 1


def test_a_manifest_is_shown_without_permissions_and_metadata() -> None:
    manifest = AppManifest(
        name="mail",
        description="reads mail",
        tools=[ToolDeclaration(name="send", parameters={"to": "str"}, permissions=["net"])],
        data_sources=[DataSource(name="inbox", type="imap", writable_by_untrusted=True)],
        metadata={"owner": "ops"},
    )
    assert manifest_document(manifest) == {
        "name": "mail",
        "description": "reads mail",
        "tools": [{"name": "send", "description": "", "parameters": {"to": "str"}}],
        "data_sources": [{"name": "inbox", "writable_by_untrusted": True}],
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<|im_end|>", r"\u003c|im_end|\u003e"),
        ("[INST] [/INST] a[0] [1]", r"\u005bINST] \u005b/INST] a[0] [1]"),
        ("a\u202eb", r"a\u202eb"),
        ("\udc80", r"\udc80"),
        ("\U000e0041", r"\udb40\udc41"),
        ("\x7f\x9b", r"\u007f\u009b"),
        ("\u2028", r"\u2028"),
        ("naïve 你好 👍", "naïve 你好 👍"),
    ],
)
def test_hidden_characters_are_written_as_escapes_and_others_as_they_are(
    text: str, shown: str
) -> None:
    document = as_document({"text": text})
    assert f'"text": "{shown}"' in document
    assert json.loads(document) == {"text": text}
