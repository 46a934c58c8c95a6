"""Text that a reader does not see, or sees otherwise than a machine reads it."""

from __future__ import annotations

from dataclasses import dataclass

from rampart.converters.text_converter import ReversibleTextConverter

__all__ = [
    "BidiConverter",
    "EmojiSmugglingConverter",
    "UnicodeTagConverter",
    "ZeroWidthConverter",
]

_ZERO, _ONE = "\u200b", "\u200c"
_OVERRIDE, _POP = "\u202e", "\u202c"
_TAGS = 0xE0000


@dataclass(frozen=True)
class ZeroWidthConverter(ReversibleTextConverter):
    """Hides the text behind another, in characters that have no width.

    Each bit of its UTF-8, highest first, is a zero width space (0) or non-joiner (1).

    Source: Boucher et al. (2022), "Bad Characters: Imperceptible NLP Attacks", arXiv:2106.09898.

    Args:
        cover: What is seen; must not contain those two characters.
    """

    cover: str = ""

    def __post_init__(self) -> None:
        if _ZERO in self.cover or _ONE in self.cover:
            raise ValueError("ZeroWidthConverter: cover must not contain U+200B or U+200C")

    def convert(self, text: str) -> str:
        """The cover, and after it 8 characters for each byte."""
        bits = "".join(f"{byte:08b}" for byte in text.encode())
        return self.cover + bits.translate({ord("0"): _ZERO, ord("1"): _ONE})

    def revert(self, text: str) -> str:
        """What is hidden behind this cover."""
        hidden = _behind(self.cover, text, self)
        if set(hidden) - {_ZERO, _ONE} or len(hidden) % 8:
            raise ValueError("not made by ZeroWidthConverter: no whole bytes of U+200B and U+200C")
        bits = hidden.translate({ord(_ZERO): "0", ord(_ONE): "1"})
        return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)).decode()


@dataclass(frozen=True)
class UnicodeTagConverter(ReversibleTextConverter):
    """Hides ASCII in Unicode's tag characters, which nothing shows and models read.

    Source: The Unicode Standard, section 23.9 (block U+E0000); found as an attack by Goodside
    (2024), described in Rehberger (2024), "ASCII Smuggler", embracethered.com.

    Args:
        cover: What is seen before it; must not contain tag characters.
    """

    cover: str = ""

    def __post_init__(self) -> None:
        if any(_TAGS <= ord(character) < _TAGS + 0x80 for character in self.cover):
            raise ValueError("UnicodeTagConverter: cover must not contain tag characters (U+E00xx)")

    def convert(self, text: str) -> str:
        """The cover, and after it one tag character for each of the text's; it must be ASCII."""
        for place, character in enumerate(text):
            if not character.isascii():
                raise ValueError(
                    f"UnicodeTagConverter: there are tags for ASCII only, not for U+{ord(character):04X} "
                    f"at {place}; EmojiSmugglingConverter and ZeroWidthConverter hide any text"
                )
        return self.cover + "".join(chr(_TAGS + ord(character)) for character in text)

    def revert(self, text: str) -> str:
        """What is hidden behind this cover."""
        codes = [ord(character) - _TAGS for character in _behind(self.cover, text, self)]
        if not all(0 <= code < 0x80 for code in codes):
            raise ValueError("not made by UnicodeTagConverter: there is more in it than tags")
        return "".join(map(chr, codes))


@dataclass(frozen=True)
class BidiConverter(ReversibleTextConverter):
    """Stores each line backwards and has it shown forwards, so that people and machines differ.

    Source: Boucher and Anderson (2021), "Trojan Source: Invisible Vulnerabilities",
    arXiv:2111.00169 (CVE-2021-42574); Unicode Standard Annex 9.
    """

    def convert(self, text: str) -> str:
        """Each line that is not empty between a right-to-left override and its end."""
        return "\n".join(
            f"{_OVERRIDE}{line[::-1]}{_POP}" if line else "" for line in text.split("\n")
        )

    def revert(self, text: str) -> str:
        """The lines forwards and without the two control characters."""
        return "\n".join(_forwards(line) if line else "" for line in text.split("\n"))


@dataclass(frozen=True)
class EmojiSmugglingConverter(ReversibleTextConverter):
    """Hides the text behind an emoji, each byte of its UTF-8 as a variation selector.

    Source: Butler (2025), "Smuggling arbitrary data through an emoji", paulbutler.org.

    Args:
        emoji: What is seen; must not contain variation selectors.
    """

    emoji: str = "\U0001f642"

    def __post_init__(self) -> None:
        if not self.emoji or any(_selected(character) is not None for character in self.emoji):
            raise ValueError(
                f"EmojiSmugglingConverter: emoji must be one without variation selectors, "
                f"not {self.emoji!a}"
            )

    def convert(self, text: str) -> str:
        """The emoji, and after it one selector for each byte."""
        return self.emoji + "".join(map(_selector, text.encode()))

    def revert(self, text: str) -> str:
        """What is hidden behind this emoji."""
        found = [_selected(character) for character in _behind(self.emoji, text, self)]
        known = [byte for byte in found if byte is not None]
        if len(known) != len(found):
            raise ValueError("not made by EmojiSmugglingConverter: more in it than selectors")
        return bytes(known).decode()


def _behind(cover: str, text: str, converter: object) -> str:
    if not text.startswith(cover):
        raise ValueError(f"not made by {type(converter).__name__}: does not begin with {cover!a}")
    return text[len(cover) :]


def _forwards(line: str) -> str:
    if len(line) < 2 or line[0] != _OVERRIDE or line[-1] != _POP:
        raise ValueError("not made by BidiConverter: a line without U+202E and U+202C around it")
    return line[-2:0:-1]


def _selector(byte: int) -> str:
    return chr(0xFE00 + byte) if byte < 16 else chr(0xE0100 + byte - 16)


def _selected(character: str) -> int | None:
    code = ord(character)
    if 0xFE00 <= code <= 0xFE0F:
        return code - 0xFE00
    return code - 0xE0100 + 16 if 0xE0100 <= code <= 0xE01EF else None
