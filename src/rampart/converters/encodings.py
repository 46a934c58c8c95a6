"""Text in the encodings of machines.

Models read many of them as easily as plain text, filters seldom do. Measured by Wei, Haghtalab and
Steinhardt (2023), "Jailbroken: How Does LLM Safety Training Fail?", arXiv:2307.02483.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote, unquote

from rampart.converters.text_converter import ReversibleTextConverter

__all__ = ["Base64Converter", "HexConverter", "HtmlEntityConverter", "UrlEncodingConverter"]


@dataclass(frozen=True)
class Base64Converter(ReversibleTextConverter):
    """Base64 of the text's UTF-8, for words that a filter would know in plain.

    Source: RFC 4648, section 4.
    """

    def convert(self, text: str) -> str:
        """The standard alphabet, padded, in one line."""
        return base64.b64encode(text.encode()).decode("ascii")

    def revert(self, text: str) -> str:
        """The text, if it is Base64 of UTF-8 and nothing else."""
        return base64.b64decode(text, validate=True).decode()


@dataclass(frozen=True)
class HexConverter(ReversibleTextConverter):
    """Two hexadecimal digits for each byte of the text's UTF-8.

    Source: RFC 4648, section 8 ("base16"), in lower case.
    """

    def convert(self, text: str) -> str:
        """The digits without anything between them."""
        return text.encode().hex()

    def revert(self, text: str) -> str:
        """The text, if it is hexadecimal UTF-8."""
        return bytes.fromhex(text).decode()


@dataclass(frozen=True)
class UrlEncodingConverter(ReversibleTextConverter):
    """Percent-encoding, for payloads in links and for agents that decode what they fetch.

    Source: RFC 3986, section 2.1: all but unreserved characters.
    """

    def convert(self, text: str) -> str:
        """Letters, digits and `-._~` stay as they are."""
        return quote(text, safe="")

    def revert(self, text: str) -> str:
        """The text, if what is encoded in it is UTF-8."""
        return unquote(text, errors="strict")


@dataclass(frozen=True)
class HtmlEntityConverter(ReversibleTextConverter):
    """Every character as a numeric HTML reference, for filters that look before a browser decodes.

    Source: HTML Living Standard, section 13.1.4. Browsers replace references to U+0000 and to most
    control characters; `revert` does not.
    """

    _REFERENCE: ClassVar[re.Pattern[str]] = re.compile(r"&#x([0-9a-f]{1,6});")

    def convert(self, text: str) -> str:
        """References such as `&#x41;`."""
        return "".join(f"&#x{ord(character):x};" for character in text)

    def revert(self, text: str) -> str:
        """The text, if it consists of hexadecimal references alone."""
        if self._REFERENCE.sub("", text):
            raise ValueError("not made by HtmlEntityConverter: there is more in it than references")
        return "".join(chr(int(digits, 16)) for digits in self._REFERENCE.findall(text))
