"""Replies that cannot be sent are refused where they are written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from seatrial.errors import NotJsonError, UsageError
from seatrial.testing import (
    ErrorReply,
    RawReply,
    StructuredReply,
    TextReply,
    ToolCall,
    ToolCallReply,
)
from seatrial.testing.replies import as_reply


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: TextReply("", delay_s=-1), r"delay_s=-1: expected seconds from 0 to 3600"),
        (lambda: TextReply("", delay_s=float("nan")), r"delay_s=nan"),
        (lambda: TextReply("", pause_s=3601), r"pause_s=3601"),
        (lambda: TextReply("", cut="tail"), r"cut='tail': expected 'head' or 'body'"),  # type: ignore[arg-type]
        (lambda: TextReply("", padding_bytes=-1), r"padding_bytes=-1"),
        (lambda: TextReply("", content_type="a\r\nb: c"), r"content_type='a\\r\\nb: c'"),
        (lambda: ErrorReply(200), r"status=200: expected an error, from 400 to 599"),
        (lambda: ErrorReply(429, retry_after=float("inf")), r"retry_after=inf"),
        (
            lambda: ErrorReply(429, retry_after=datetime(2030, 1, 1)),  # noqa: DTZ001
            r"expected a time zone",
        ),
        (lambda: RawReply(b"", status=99), r"status=99: expected a status from 200 to 599"),
        (lambda: ToolCallReply(()), r"without calls: expected at least one"),
        (lambda: ToolCall("f", [1]), r"tool call 'f': expected a dict or text, not a list"),  # type: ignore[arg-type]
        (lambda: as_reply(7), r"a int in the place of a reply: expected a str, a ToolCall"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_the_value_and_the_range(
    make: Callable[[], object], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        make()


def test_arguments_that_are_not_json_are_refused_with_their_place() -> None:
    with pytest.raises(NotJsonError, match=r"tool call 'search' must be JSON, but \$\.x is nan"):
        ToolCall("search", {"x": float("nan")})


def test_data_that_the_test_changes_later_stays_as_it_was() -> None:
    data = {"passed": True}
    reply = StructuredReply(data)  # type: ignore[arg-type]
    data["passed"] = False
    assert reply.data == {"passed": True}


def test_text_and_a_bare_call_stand_for_replies() -> None:
    assert as_reply("Paris") == TextReply("Paris")
    call = ToolCall("search", {"q": "Paris"})
    assert as_reply(call) == ToolCallReply((call,))
