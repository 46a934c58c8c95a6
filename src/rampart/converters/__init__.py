"""Payloads in other forms: encoded, hidden, rewritten by a model, or inside a document.

`a | b` applies `a` first. Each form names where it was described in its docstring.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rampart.converters.chain import Chain
    from rampart.converters.encodings import (
        Base64Converter,
        HexConverter,
        HtmlEntityConverter,
        UrlEncodingConverter,
    )
    from rampart.converters.hidden_text import (
        BidiConverter,
        EmojiSmugglingConverter,
        UnicodeTagConverter,
        ZeroWidthConverter,
    )
    from rampart.converters.markup import (
        CodeCommentConverter,
        JsonConverter,
        MarkdownImageConverter,
    )
    from rampart.converters.model_converters import TenseConverter, TranslationConverter
    from rampart.converters.spelling import (
        CaseConverter,
        CharacterSpacingConverter,
        ReversedConverter,
    )
    from rampart.converters.substitutions import (
        CaesarConverter,
        HomoglyphConverter,
        LeetspeakConverter,
        MorseConverter,
        Rot13Converter,
    )
    from rampart.converters.text_converter import ReversibleTextConverter, TextConverter

__all__ = [
    "Base64Converter",
    "BidiConverter",
    "CaesarConverter",
    "CaseConverter",
    "Chain",
    "CharacterSpacingConverter",
    "CodeCommentConverter",
    "EmojiSmugglingConverter",
    "HexConverter",
    "HomoglyphConverter",
    "HtmlEntityConverter",
    "JsonConverter",
    "LeetspeakConverter",
    "MarkdownImageConverter",
    "MorseConverter",
    "ReversedConverter",
    "ReversibleTextConverter",
    "Rot13Converter",
    "TenseConverter",
    "TextConverter",
    "TranslationConverter",
    "UnicodeTagConverter",
    "UrlEncodingConverter",
    "ZeroWidthConverter",
]

_HOMES = {
    "chain": ("Chain",),
    "encodings": (
        "Base64Converter",
        "HexConverter",
        "HtmlEntityConverter",
        "UrlEncodingConverter",
    ),
    "hidden_text": (
        "BidiConverter",
        "EmojiSmugglingConverter",
        "UnicodeTagConverter",
        "ZeroWidthConverter",
    ),
    "markup": ("CodeCommentConverter", "JsonConverter", "MarkdownImageConverter"),
    "model_converters": ("TenseConverter", "TranslationConverter"),
    "spelling": ("CaseConverter", "CharacterSpacingConverter", "ReversedConverter"),
    "substitutions": (
        "CaesarConverter",
        "HomoglyphConverter",
        "LeetspeakConverter",
        "MorseConverter",
        "Rot13Converter",
    ),
    "text_converter": ("ReversibleTextConverter", "TextConverter"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a converter when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Not kept, as in `rampart`: classes of two loads do not mix.
    value: object = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
