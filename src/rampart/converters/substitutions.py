"""Characters replaced by others, after a fixed table."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase as lower
from string import ascii_uppercase as upper

from rampart.converters.text_converter import ReversibleTextConverter, TextConverter

__all__ = [
    "CaesarConverter",
    "HomoglyphConverter",
    "LeetspeakConverter",
    "MorseConverter",
    "Rot13Converter",
]


@dataclass(frozen=True)
class CaesarConverter(ReversibleTextConverter):
    """Each letter A to Z moved along the alphabet; a cipher that models solve without being told.

    Source: Suetonius, "Life of Julius Caesar", 56; on models Yuan et al. (2023), "GPT-4 Is Too
    Smart To Be Safe: Stealthy Chat with LLMs via Cipher", arXiv:2308.06463.

    Args:
        shift: How many places, 1 to 25.
    """

    shift: int = 3

    def __post_init__(self) -> None:
        if not isinstance(self.shift, int) or isinstance(self.shift, bool):
            raise TypeError(f"CaesarConverter: shift must be a whole number, not {self.shift!r}")
        if not 1 <= self.shift <= 25:
            raise ValueError(f"CaesarConverter: shift must be 1 to 25, not {self.shift}")

    def convert(self, text: str) -> str:
        """All but the letters A to Z and a to z stay as they are."""
        return _moved(text, self.shift)

    def revert(self, text: str) -> str:
        """The letters moved back."""
        return _moved(text, -self.shift)


@dataclass(frozen=True)
class Rot13Converter(ReversibleTextConverter):
    """Each letter A to Z moved by half the alphabet.

    Source: the Usenet custom of that name; on models Wei et al. (2023), arXiv:2307.02483.
    """

    def convert(self, text: str) -> str:
        """All but the letters A to Z and a to z stay as they are."""
        return _moved(text, 13)

    def revert(self, text: str) -> str:
        """The same once more."""
        return _moved(text, 13)


@dataclass(frozen=True)
class MorseConverter(TextConverter):
    """International Morse code, for filters that know words only.

    Letters between spaces, words between ` / `, lines kept. What the code has no sign for stays as
    it is, and capitals are lost, so that it cannot be reverted.

    Source: Recommendation ITU-R M.1677-1 (2009); on models Yuan et al. (2023), arXiv:2308.06463.
    """

    def convert(self, text: str) -> str:
        """Dots and hyphens."""
        return "\n".join(
            " / ".join(" ".join(map(_morse, word)) for word in line.split())
            for line in text.split("\n")
        )


@dataclass(frozen=True)
class LeetspeakConverter(TextConverter):
    """Letters as digits that look like them, for filters that look for words.

    A digit of the text looks like a replaced letter, so that it cannot be reverted.

    Source: Wei et al. (2023), arXiv:2307.02483, where it is among the obfuscations.
    """

    def convert(self, text: str) -> str:
        """With a, b, e, g, i, o, s, t and z replaced in either case."""
        return text.translate(_LEETSPEAK)


@dataclass(frozen=True)
class HomoglyphConverter(TextConverter):
    """Latin letters as Cyrillic and Greek ones that look the same, against comparisons of words.

    A text may have contained those before, so that it cannot be reverted.

    Source: Unicode Technical Standard 39, "confusables"; on models Boucher et al. (2022), "Bad
    Characters: Imperceptible NLP Attacks", arXiv:2106.09898.
    """

    def convert(self, text: str) -> str:
        """The letters without a twin stay Latin."""
        return text.translate(_HOMOGLYPHS)


def _moved(text: str, places: int) -> str:
    places %= 26
    table = str.maketrans(
        lower + upper, lower[places:] + lower[:places] + upper[places:] + upper[:places]
    )
    return text.translate(table)


def _morse(character: str) -> str:
    return _MORSE.get(character.upper(), character)


_MORSE_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:?'-/()\"=+@"
_MORSE_CODES = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- "
    "-..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.- --..-- "
    "---... ..--.. .----. -....- -..-. -.--. -.--.- .-..-. -...- .-.-. .--.-."
)
_MORSE = dict(zip(_MORSE_SIGNS, _MORSE_CODES.split(), strict=True))
_LEETSPEAK = str.maketrans("abegiostzABEGIOSTZ", "483610572483610572")
_HOMOGLYPHS = str.maketrans(
    "aceijopsxyABCEHIJKMNOPSTXYZ",
    "\u0430\u0441\u0435\u0456\u0458\u043e\u0440\u0455\u0445\u0443"
    "\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c\u039d\u041e\u0420\u0405\u0422\u0425\u03a5\u0396",
)
