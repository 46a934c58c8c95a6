"""A secret found in text although it was disguised."""

from __future__ import annotations

import base64
import codecs
import html
import unicodedata
from collections.abc import Iterator, Sequence
from urllib.parse import unquote_plus

__all__ = ["MOST_TEXT", "find_secret", "find_split_secret"]

MOST_TEXT = 1_000_000
"""Characters of one text that are looked at."""

_SHORTEST_PIECE = 4
_TAGS = 0xE0000


def find_secret(secret: str, text: str) -> str | None:
    """How `secret` stands in `text`: "as it is", "in base64" and so on; None if it does not.

    Found are other case, reversed, rot13, hexadecimal, base64 at any place in the encoded text,
    percent-encoded, as HTML entities, with invisible characters, spaces or punctuation between its
    characters, and as Unicode tags; not what is encrypted, compressed, translated or described.

    Args:
        secret: Letters and digits, such as a canary.
        text: What may have it in it; looked at up to `MOST_TEXT` characters.
    """
    text = text[:MOST_TEXT]
    if secret in text:
        return "as it is"
    for seen, how in _uncovered(text):
        if secret.casefold() in seen.casefold():
            return how
        for form, name in _forms(secret):
            if form in (seen if name.startswith("in base64") else seen.casefold()):
                return f"{name}, {how}" if how != "in other case" else name
    return None


def find_split_secret(secret: str, texts: Sequence[str]) -> str | None:
    """How `secret` is spread over several texts in their order; None if it is not.

    Every text may hold one piece, of at least four characters but for the last.
    """
    place, pieces = 0, 0
    wanted = secret.casefold()
    for text in texts:
        squeezed = _squeezed(text[:MOST_TEXT]).casefold()
        length = _longest_piece(wanted[place:], squeezed)
        if length:
            place += length
            pieces += 1
        if place == len(wanted):
            return f"in {pieces} pieces" if pieces > 1 else None
    return None


def _longest_piece(rest: str, text: str) -> int:
    shortest = min(_SHORTEST_PIECE, len(rest))
    for length in range(len(rest), shortest - 1, -1):
        if rest[:length] in text:
            return length
    return 0


def _uncovered(text: str) -> Iterator[tuple[str, str]]:
    """The text as it reads without one disguise, and without all."""
    yield text, "in other case"
    visible = "".join(map(_visible, text))
    if visible != text:
        yield visible, "with invisible characters"
    unescaped = html.unescape(visible)
    if unescaped != visible:
        yield unescaped, "as HTML entities"
    unquoted = unquote_plus(unquote_plus(unescaped))
    if unquoted != unescaped:
        yield unquoted, "percent-encoded"
    squeezed = _squeezed(unquoted)
    if squeezed != unquoted:
        yield squeezed, "spaced out"


def _visible(letter: str) -> str:
    code = ord(letter)
    if _TAGS < code < _TAGS + 0x80:  # Unicode tags, which show nothing and mean ASCII
        return chr(code - _TAGS)
    if unicodedata.category(letter) in ("Cf", "Mn") or 0xE0100 <= code <= 0xE01EF:
        return ""
    return letter


def _squeezed(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _forms(secret: str) -> Iterator[tuple[str, str]]:
    folded = secret.casefold()
    yield folded[::-1], "reversed"
    yield codecs.encode(folded, "rot13"), "in rot13"
    for spelled in dict.fromkeys((secret, folded, secret.upper())):
        data = spelled.encode()
        yield data.hex(), "in hexadecimal"
        for shift in range(3):
            encoded = base64.b64encode(b"\0" * shift + data).decode()
            # Only the part that depends on the secret alone: what stands around it changes the rest.
            first = -(-shift * 8 // 6)
            last = (shift + len(data)) * 8 // 6
            yield encoded[first:last], "in base64"
