"""What models are shown of what others wrote: one JSON document, in which nothing is hidden."""

from __future__ import annotations

import json
import re
import unicodedata

from seatrial.snapshot import JsonObject

__all__ = ["as_document"]

_HIDDEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Unicode categories that a reader does not see, or not in their place."""

_MARKUP = re.compile(r"[<>\x7f]|\[(?=\||/?[A-Z_]+\]|e~\[)|\](?=~)")
"""Where the words begin and end with which models mark roles and turns: `<|im_start|>`, `[INST]`.

Servers may read them as such inside a message too, and pydantic-ai breaks them up with invisible
characters. None of it matches JSON's own brackets, for after those comes a line's end.
"""


def as_document(value: JsonObject) -> str:
    r"""`value` as JSON text in which nothing is hidden.

    Characters without a shape, halves of surrogate pairs, and what begins and ends the words with
    which models mark roles are written as JSON's own `\u` escapes: parsed, they are what they were.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
    text = _MARKUP.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if text.isascii():
        return text
    return "".join(json.dumps(c)[1:-1] if _is_hidden(c) else c for c in text)


def _is_hidden(character: str) -> bool:
    if character.isascii():
        return False
    # Variation selectors and tags carry text that nobody sees.
    return unicodedata.category(character) in _HIDDEN or 0xE0000 <= ord(character) <= 0xE0FFF
