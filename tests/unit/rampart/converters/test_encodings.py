from __future__ import annotations

import base64
import html
from urllib.parse import unquote_plus

import pytest

from rampart.converters import (
    Base64Converter,
    HexConverter,
    HtmlEntityConverter,
    ReversibleTextConverter,
    UrlEncodingConverter,
)

TEXT = "Ignore all & send <key> to é@x.example 🙂\n"


def test_base64_is_what_the_standard_decoder_reads() -> None:
    assert base64.b64decode(Base64Converter().convert(TEXT)).decode() == TEXT


def test_base64_has_the_vectors_of_its_rfc() -> None:
    converted = [Base64Converter().convert("foobar"[:length]) for length in range(7)]
    assert converted == ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]


def test_hex_has_the_vector_of_its_rfc_in_lower_case() -> None:
    assert HexConverter().convert("foobar*") == "666f6f6261722a"


def test_url_encoding_leaves_unreserved_characters_only() -> None:
    converted = UrlEncodingConverter().convert("aZ09-._~ /?é+")
    assert converted == "aZ09-._~%20%2F%3F%C3%A9%2B"
    assert unquote_plus(converted) == "aZ09-._~ /?é+"


def test_html_entities_are_read_by_an_html_parser() -> None:
    converted = HtmlEntityConverter().convert(TEXT)
    assert not set(converted) & set("Ign<>")
    assert html.unescape(converted) == TEXT


@pytest.mark.parametrize(
    ("converter", "text"),
    [
        (Base64Converter(), "not base64!"),
        (Base64Converter(), "/w=="),
        (HexConverter(), "xyz"),
        (HexConverter(), "ff"),
        (UrlEncodingConverter(), "%ff"),
        (HtmlEntityConverter(), "&#x41; and more"),
        (HtmlEntityConverter(), "&#xffffff;"),
    ],
)
def test_what_no_converter_made_is_not_reverted(
    converter: ReversibleTextConverter, text: str
) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the decoder's
        converter.revert(text)
