from __future__ import annotations

import codecs
import unicodedata

import pytest

from rampart.converters import (
    CaesarConverter,
    HomoglyphConverter,
    LeetspeakConverter,
    MorseConverter,
    Rot13Converter,
)


def test_caesar_moves_letters_around_the_end_and_leaves_the_rest() -> None:
    assert CaesarConverter(shift=3).convert("xyz XYZ 9é") == "abc ABC 9é"


@pytest.mark.parametrize("shift", [0, 26, -1])
def test_a_shift_that_leaves_the_text_or_repeats_another_is_refused(shift: int) -> None:
    with pytest.raises(ValueError, match=f"shift must be 1 to 25, not {shift}"):
        CaesarConverter(shift=shift)


@pytest.mark.parametrize("shift", [True, 2.5, "3"])
def test_a_shift_is_a_whole_number(shift: object) -> None:
    with pytest.raises(TypeError, match="shift must be a whole number"):
        CaesarConverter(shift=shift)  # type: ignore[arg-type]


def test_rot13_is_the_one_of_the_standard_library() -> None:
    text = "The quick brown fox, 3 times. Ünïcode"
    assert Rot13Converter().convert(text) == codecs.encode(text, "rot13")


def test_morse_parts_letters_words_and_lines() -> None:
    converted = MorseConverter().convert("sos Now!\n@7 ü")
    assert converted == "... --- ... / -. --- .-- !\n.--.-. --... / ü"


def test_morse_has_a_code_of_its_own_for_each_character() -> None:
    signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:?'-/()\"=+@"
    codes = [MorseConverter().convert(sign) for sign in signs]
    assert len(set(codes)) == len(signs)
    assert set("".join(codes)) == set(".-")


def test_leetspeak_replaces_letters_in_either_case() -> None:
    assert LeetspeakConverter().convert("Ignore Safety, bzt") == "16n0r3 54f37y, 827"


def test_homoglyphs_look_latin_and_are_not() -> None:
    text = "aceijopsxyABCEHIJKMNOPSTXYZ"
    converted = HomoglyphConverter().convert(text)
    assert len(converted) == len(text)
    for before, after in zip(text, converted, strict=True):
        script = unicodedata.name(after).split()[0]
        assert script in {"CYRILLIC", "GREEK"}
        assert before.isupper() == after.isupper()
    assert HomoglyphConverter().convert("dfg 1") == "dfg 1"
