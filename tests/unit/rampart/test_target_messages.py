from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from rampart.target_messages import message_for, text_of
from seatrial.errors import MissingExtraError, ModelProviderError


def piece(value: object, kind: str = "text", error: str = "none") -> SimpleNamespace:
    return SimpleNamespace(
        converted_value=value, converted_value_data_type=kind, response_error=error
    )


def message(*pieces: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(message_pieces=list(pieces))


def test_a_message_has_one_piece_of_text_that_asks_for_json() -> None:
    made = message_for(object(), "hello", "c1")
    (only,) = made.message_pieces
    assert (only.role, only.converted_value, only.conversation_id) == ("user", "hello", "c1")
    assert only.converted_value_data_type == "text"
    assert only.prompt_metadata == {"response_format": "json"}
    assert made.get_value() == "hello"


def test_messages_do_not_share_their_metadata() -> None:
    first, second = (message_for(object(), "x", "c").message_pieces[0] for _ in range(2))
    first.prompt_metadata["changed"] = True
    assert "changed" not in second.prompt_metadata


def test_a_target_of_pyrits_without_pyrit_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type("HttpTarget", (), {"__module__": "pyrit.prompt_target.http"})
    monkeypatch.setitem(sys.modules, "pyrit", None)
    with pytest.raises(MissingExtraError, match=r"HttpTarget .*pip install 'seatrial\[pyrit\]'"):
        message_for(kind(), "x", "c")


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (message(piece("a")), "a"),
        ([message(piece("first")), message(piece("last"))], "last"),
        ((message(piece("a"), piece("b")),), "ab"),
        (message(piece("thought", "reasoning"), piece("said")), "said"),
        (message(piece("/tmp/x.png", "image_path")), ""),
        (message(piece(None)), ""),
    ],
)
def test_the_text_is_that_of_the_last_message(reply: object, text: str) -> None:
    assert text_of(reply, "Target") == text


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (None, "empty"),
        ([], "empty"),
        (message(), "empty"),
        (message(piece("", error="empty")), "empty"),
        (message(piece("no", error="blocked")), "refused"),
        (message(piece("?", error="processing")), "unusable"),
        ("text", "unusable"),
        ([SimpleNamespace(text="x")], "unusable"),
    ],
)
def test_a_reply_without_text_says_what_is_wrong_with_it(reply: Any, kind: str) -> None:
    with pytest.raises(ModelProviderError, match="Target answered with") as told:
        text_of(reply, "Target")
    assert told.value.kind == kind
