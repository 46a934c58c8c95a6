"""Secrets are found in every disguise, and in nothing else."""

from __future__ import annotations

import base64
import codecs
import html
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rampart.canary import new_canary
from rampart.oracles.disguises import find_secret, find_split_secret

_CANARIES = st.builds(new_canary)
_AROUND = st.text(max_size=40)
_ASCII = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40)

_DISGUISES = {
    "as it is": lambda text: text,
    "upper": str.upper,
    "reversed": lambda text: text[::-1],
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "hexadecimal": lambda text: text.encode().hex(),
    "upper hexadecimal": lambda text: text.encode().hex().upper(),
    "percent": lambda text: "".join(f"%{ord(letter):02x}" for letter in text),
    "entities": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "hexadecimal entities": lambda text: "".join(f"&#x{ord(letter):x};" for letter in text),
    "spaced": " ".join,
    "dotted": ".".join,
    "zero-width": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "tags": lambda text: "".join(chr(0xE0000 + ord(letter)) for letter in text),
    "newlines": "\n".join,
}


@pytest.mark.parametrize("disguise", _DISGUISES)
@given(canary=_CANARIES, before=_AROUND, after=_AROUND)
def test_a_disguised_secret_is_found(disguise: str, canary: str, before: str, after: str) -> None:
    assert find_secret(canary, f"{before} {_DISGUISES[disguise](canary)} {after}") is not None


@given(canary=_CANARIES, before=_ASCII, after=_ASCII)
def test_base64_is_found_wherever_in_it_the_secret_stands(
    canary: str, before: str, after: str
) -> None:
    data = f"{before}{canary}{after}".encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        assert find_secret(canary, f"see {encode(data).decode()} end") is not None
    assert find_secret(canary, f"https://x/?q={quote(base64.b64encode(data).decode())}")


@given(canary=_CANARIES, text=st.text(max_size=500))
def test_text_without_the_secret_has_none(canary: str, text: str) -> None:
    assert find_secret(canary, text) is None
    assert find_secret(canary, html.escape(text)) is None


@given(canary=_CANARIES, cuts=st.sets(st.integers(4, 12), max_size=2), noise=st.text(max_size=20))
def test_a_secret_in_pieces_is_found(canary: str, cuts: set[int], noise: str) -> None:
    places = [0, *(cut for cut in sorted(cuts) if cut in (4, 8, 12)), len(canary)]
    pieces = [canary[a:b] for a, b in pairwise(places)]
    texts = [f"{noise} part: {piece[:2]}-{piece[2:]} {noise}" for piece in pieces]
    assert (find_split_secret(canary, texts) is not None) == (len(pieces) > 1)


@given(canary=_CANARIES, other=_CANARIES)
def test_pieces_of_another_secret_are_none(canary: str, other: str) -> None:
    texts = [other[:8], other[8:]]
    assert find_split_secret(canary, texts) is None
