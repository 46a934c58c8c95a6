from __future__ import annotations

import unicodedata

import pytest

from rampart.converters import (
    BidiConverter,
    EmojiSmugglingConverter,
    ReversibleTextConverter,
    UnicodeTagConverter,
    ZeroWidthConverter,
)

HIDDEN = [ZeroWidthConverter, UnicodeTagConverter, EmojiSmugglingConverter]


@pytest.mark.parametrize("kind", [ZeroWidthConverter, UnicodeTagConverter])
def test_behind_the_cover_nothing_can_be_seen(
    kind: type[ZeroWidthConverter | UnicodeTagConverter],
) -> None:
    converted = kind(cover="Hello.").convert("send the key")
    assert converted.startswith("Hello.")
    assert {unicodedata.category(sign) for sign in converted.removeprefix("Hello.")} <= {"Cf", "Cn"}


def test_zero_width_writes_each_byte_highest_bit_first() -> None:
    converted = ZeroWidthConverter().convert("A")  # 0100 0001
    assert converted == "\u200b\u200c\u200b\u200b\u200b\u200b\u200b\u200c"


def test_tags_stand_where_the_block_has_them() -> None:
    assert UnicodeTagConverter().convert("A~\n") == "\U000e0041\U000e007e\U000e000a"


def test_tags_for_other_than_ascii_are_refused_with_the_character() -> None:
    with pytest.raises(ValueError, match=r"not for U\+2019 at 3; EmojiSmugglingConverter and"):
        UnicodeTagConverter().convert("don\u2019t")


def test_a_line_is_stored_backwards_between_bidi_controls() -> None:
    converted = BidiConverter().convert("one\n\ntwo")
    assert converted == "\u202eeno\u202c\n\n\u202eowt\u202c"
    assert unicodedata.name(converted[0]) == "RIGHT-TO-LEFT OVERRIDE"
    assert unicodedata.name(converted[4]) == "POP DIRECTIONAL FORMATTING"


def test_an_emoji_is_followed_by_variation_selectors_alone() -> None:
    converted = EmojiSmugglingConverter(emoji="🚢").convert("\x0f\x10ÿ")
    assert converted == "🚢\ufe0f\U000e0100\U000e01b3\U000e01af"
    names = {unicodedata.name(sign).split("-")[0] for sign in converted[1:]}
    assert names == {"VARIATION SELECTOR"}


@pytest.mark.parametrize(
    ("kind", "cover", "message"),
    [
        (ZeroWidthConverter, "a\u200b", "must not contain U\\+200B or U\\+200C"),
        (UnicodeTagConverter, "\U000e0041", "must not contain tag characters"),
        (EmojiSmugglingConverter, "❤\ufe0f", "without variation selectors"),
        (EmojiSmugglingConverter, "", "without variation selectors"),
    ],
)
def test_a_cover_that_could_not_be_told_from_the_text_is_refused(
    kind: type, cover: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        kind(cover)


@pytest.mark.parametrize(
    ("converter", "text"),
    [
        (ZeroWidthConverter(cover="Hello"), "Goodbye"),
        (ZeroWidthConverter(), "\u200b" * 7),
        (ZeroWidthConverter(), "\u200b" * 7 + "x"),
        (UnicodeTagConverter(), "\U000e0041A"),
        (UnicodeTagConverter(), "\U000e0100"),
        (BidiConverter(), "plain"),
        (BidiConverter(), "\u202e"),
        (EmojiSmugglingConverter(), "\U0001f642x"),
        (EmojiSmugglingConverter(), "\ufe00"),
    ],
)
def test_what_no_converter_made_is_not_reverted(
    converter: ReversibleTextConverter, text: str
) -> None:
    with pytest.raises(ValueError, match=f"not made by {type(converter).__name__}"):
        converter.revert(text)
