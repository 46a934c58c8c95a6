"""What is said to be reversible gives back every text, to the character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rampart.converters import (
    Base64Converter,
    BidiConverter,
    CaesarConverter,
    CaseConverter,
    Chain,
    CharacterSpacingConverter,
    CodeCommentConverter,
    EmojiSmugglingConverter,
    HexConverter,
    HomoglyphConverter,
    HtmlEntityConverter,
    JsonConverter,
    LeetspeakConverter,
    MorseConverter,
    ReversedConverter,
    ReversibleTextConverter,
    Rot13Converter,
    TextConverter,
    UnicodeTagConverter,
    UrlEncodingConverter,
    ZeroWidthConverter,
)

OF_ANY_TEXT: list[ReversibleTextConverter] = [
    Base64Converter(),
    BidiConverter(),
    CharacterSpacingConverter(),
    CharacterSpacingConverter("--"),
    EmojiSmugglingConverter(),
    HexConverter(),
    HtmlEntityConverter(),
    JsonConverter(),
    ReversedConverter(),
    Rot13Converter(),
    UrlEncodingConverter(),
    ZeroWidthConverter(),
    ZeroWidthConverter("Hello."),
    *(
        CodeCommentConverter(language)
        for language in CodeCommentConverter.languages()
        if language not in {"css", "html", "xml"}
    ),
]
texts = st.text() | st.text("\r\n\x0b\x1c\u2028 #-/*ab\u200b\u202e\ufe0f")


@pytest.mark.parametrize("converter", OF_ANY_TEXT, ids=repr)
@given(text=texts)
def test_any_text_comes_back(converter: ReversibleTextConverter, text: str) -> None:
    assert converter.revert(converter.convert(text)) == text


@given(text=texts, shift=st.integers(1, 25))
def test_any_shift_can_be_undone(text: str, shift: int) -> None:
    converter = CaesarConverter(shift)
    assert converter.revert(converter.convert(text)) == text


@given(text=st.text(st.characters(max_codepoint=0x7F)), cover=st.text("Hello, wörld"))
def test_any_ascii_comes_back_from_tags(text: str, cover: str) -> None:
    converter = UnicodeTagConverter(cover)
    assert converter.revert(converter.convert(text)) == text


@pytest.mark.parametrize("language", ["css", "html", "xml"])
@given(text=texts)
def test_a_block_comment_comes_back_or_is_refused(language: str, text: str) -> None:
    converter = CodeCommentConverter(language)
    try:
        converted = converter.convert(text)
    except ValueError:
        assert "--" in text or "*/" in text
        return
    assert converter.revert(converted) == text


@given(
    text=st.text(), converters=st.lists(st.sampled_from(OF_ANY_TEXT[:12]), min_size=1, max_size=3)
)
def test_a_chain_of_them_is_undone_from_its_end(
    text: str, converters: list[ReversibleTextConverter]
) -> None:
    converted = text
    for converter in converters:
        converted = converter.convert(converted)
    assert Chain(*converters).revert(converted) == text


@pytest.mark.parametrize(
    "converter",
    [
        CaseConverter(),
        CaseConverter("random"),
        CaseConverter("upper"),
        HomoglyphConverter(),
        LeetspeakConverter(),
        MorseConverter(),
    ],
    ids=repr,
)
@given(text=texts)
def test_those_that_lose_something_take_any_text_all_the_same(
    converter: TextConverter, text: str
) -> None:
    assert converter.convert(text) == converter.convert(text)
    assert bool(converter.convert(text).strip()) == bool(text.strip())
