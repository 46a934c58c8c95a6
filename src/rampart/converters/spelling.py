"""The same characters in another order, another case or further apart."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal, get_args

from rampart.converters.text_converter import ReversibleTextConverter, TextConverter

__all__ = ["CaseConverter", "CharacterSpacingConverter", "ReversedConverter"]

_Style = Literal["alternating", "upper", "random"]


@dataclass(frozen=True)
class CharacterSpacingConverter(ReversibleTextConverter):
    """Puts a separator between all characters, so that no word is left for a filter to know.

    Source: Robust Intelligence (2024) on Meta's Prompt-Guard, which spaced letters got past.

    Args:
        separator: Not empty.
    """

    separator: str = " "

    def __post_init__(self) -> None:
        if not self.separator:
            raise ValueError("CharacterSpacingConverter: separator must not be empty")

    def convert(self, text: str) -> str:
        """None before the first character, none after the last."""
        return self.separator.join(text)

    def revert(self, text: str) -> str:
        """The characters without what is between them."""
        original = text[:: len(self.separator) + 1]
        if self.convert(original) != text:
            raise ValueError(
                f"not made by CharacterSpacingConverter: not all characters have "
                f"{self.separator!a} between them"
            )
        return original


@dataclass(frozen=True)
class CaseConverter(TextConverter):
    """Changes the case of letters, for filters that compare exactly and to look like shouting.

    Source: Hughes et al. (2024), "Best-of-N Jailbreaking", arXiv:2412.03556, where random case is
    among the augmentations.

    Args:
        style: "alternating" (lower, then upper, letters only counted), "upper", or "random".
        seed: Of "random": one text and one seed give one result.
    """

    style: _Style = "alternating"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.style not in get_args(_Style):
            raise ValueError(
                f"CaseConverter: style must be one of {', '.join(get_args(_Style))}, "
                f"not {self.style!r}"
            )

    def convert(self, text: str) -> str:
        """Only letters change."""
        if self.style == "upper":
            return text.upper()
        chance = random.Random(self.seed)
        letters = 0
        converted = []
        for character in text:
            if not character.isalpha():
                converted.append(character)
                continue
            raised = chance.random() < 0.5 if self.style == "random" else letters % 2 == 1
            converted.append(character.upper() if raised else character.lower())
            letters += 1
        return "".join(converted)


@dataclass(frozen=True)
class ReversedConverter(ReversibleTextConverter):
    """The text from its last character to its first, which models can read and filters do not.

    Source: Liu et al. (2024), "FlipAttack: Jailbreak LLMs via Flipping", arXiv:2410.02832.
    """

    def convert(self, text: str) -> str:
        """By code point: marks that combine move to the character on their other side."""
        return text[::-1]

    def revert(self, text: str) -> str:
        """The same once more."""
        return text[::-1]
