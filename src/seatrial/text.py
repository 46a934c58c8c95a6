"""Text that an agent, a document or a model wrote, made safe for a terminal.

Nothing is removed: what could move a cursor, forge a line or reorder what a reader sees is shown
as the escape a Python string would use, so evidence stays evidence.
"""

from __future__ import annotations

import unicodedata

__all__ = ["escape", "first_line", "one_line"]

# Controls, format characters (bidirectional overrides among them), surrogates, and the two
# separators that some terminals treat as line ends.
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def escape(text: str, *, keep: str = "\n\t") -> str:
    r"""Show unsafe characters as `\x1b`-style escapes, all but those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escape_character(character)
        if character not in keep and unicodedata.category(character) in _UNSAFE
        else character
        for character in text
    )


def _escape_character(character: str) -> str:
    return ascii(character)[1:-1]


def one_line(text: str, *, limit: int = 500) -> str:
    """`text` on one line of at most `limit` characters, safe for a terminal."""
    shown = escape(text[: limit + 1], keep="")
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def first_line(message: str) -> str:
    """What an assertion says; below it, pytest explains the values that were compared."""
    return message.partition("\n")[0]
