"""Nothing that is shown can move a cursor, reorder a line, or forge another."""

from __future__ import annotations

import ast
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from seatrial.text import escape, one_line

texts = st.text(st.characters(exclude_categories=()), max_size=60)
nasty = st.text(
    st.characters(categories=("Cc", "Cf", "Cs", "Zl", "Zp")) | st.sampled_from("ab \\"), max_size=60
)


def unsafe(text: str, keep: str = "") -> list[str]:
    return [
        character
        for character in text
        if character not in keep
        and unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    ]


@given(text=texts | nasty)
def test_no_unsafe_character_is_ever_shown(text: str) -> None:
    assert unsafe(escape(text), keep="\n\t") == []
    assert unsafe(escape(text, keep="")) == []


@given(text=texts | nasty)
def test_escaped_text_needs_no_further_escape(text: str) -> None:
    assert escape(escape(text)) == escape(text)


@given(text=texts | nasty)
def test_evidence_stays_evidence(text: str) -> None:
    plain = text.replace("\\", "/")  # a backslash of the text's own looks like an escape's
    assert "".join(map(read_back, split(escape(plain, keep="")))) == plain


def split(shown: str) -> list[str]:
    """Escapes and single characters, in turn; as a reader of Python would see them."""
    parts, rest = [], shown
    widths = {"x": 4, "u": 6, "U": 10}
    while rest:
        width = widths.get(rest[1:2], 2) if rest[0] == "\\" and len(rest) > 1 else 1
        parts.append(rest[:width])
        rest = rest[width:]
    return parts


def read_back(part: str) -> str:
    return part if len(part) == 1 else str(ast.literal_eval(f'"{part}"'))


@given(text=texts | nasty, limit=st.integers(1, 80))
def test_one_line_is_one_safe_line_within_its_limit(text: str, limit: int) -> None:
    shown = one_line(text, limit=limit)
    assert len(shown) <= limit
    assert unsafe(shown) == []
    assert len(shown.splitlines()) <= 1
    assert shown.encode("utf-8").decode("utf-8") == shown


@given(text=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40))
def test_plain_text_is_shown_as_it_is(text: str) -> None:
    assert one_line(text) == escape(text) == text
