"""Keys kept out of all that is shown or stored, wherever a provider repeats them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlsplit

from seatrial.snapshot import Json

__all__ = ["keep_keys_out_of_logs", "without_keys"]

_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
_SHORTEST = 8
"""Characters; what is shorter would be found in ordinary words."""

_LOGGERS = (
    *("openai", "openai._base_client", "anthropic", "anthropic._base_client"),
    *(
        f"{name}{version}{part}"
        for version in ("", "2")
        for name in ("httpx", "httpcore")
        for part in ("", ".connection", ".http11", ".http2", ".proxy", "._client")
    ),
)
"""Loggers that write what was sent and received."""


def without_keys(value: Json, *, key: str | None = None, url: str | None = None) -> Json:
    """A copy of `value` with every key in it replaced by its name.

    Keys are the values of environment variables that end in `_KEY`, `_TOKEN`, `_SECRET` or
    `_PASSWORD`, and what is given here.

    Args:
        value: Text, or JSON with text in it.
        key: Another key.
        url: An address that may hold a password.
    """
    return _replaced(value, _spellings(_known(key, url)))


def _known(key: str | None, url: str | None) -> dict[str, str]:
    known = {
        value: name
        for name, value in os.environ.items()
        if name.upper().endswith(_ENDINGS) and len(value) >= _SHORTEST
    }
    password = urlsplit(url).password if url else None
    for value, name in ((key, "key"), (password, "password")):
        if value and len(value) >= _SHORTEST:
            known.setdefault(value, name)
    return known


def _spellings(known: Mapping[str, str]) -> list[tuple[str, str]]:
    """Each key as it is and as it stands in a URL, the longest first: one may hold another."""
    spelled = {text: name for value, name in known.items() for text in (value, quote(value, ""))}
    return sorted(spelled.items(), key=lambda entry: -len(entry[0]))


def _replaced(value: Json, secrets: Iterable[tuple[str, str]]) -> Json:
    if isinstance(value, str):
        for secret, name in secrets:
            value = value.replace(secret, f"[{name}]")
        return value
    if isinstance(value, list):
        return [_replaced(item, secrets) for item in value]
    if isinstance(value, dict):
        return {
            str(_replaced(name, secrets)): _replaced(item, secrets) for name, item in value.items()
        }
    return value


class _KeyFilter(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self.keys: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        text: Json = record.getMessage()
        for key in self.keys:
            text = without_keys(text, key=key)
        record.msg, record.args = without_keys(text), ()
        return True


_filter = _KeyFilter()


def keep_keys_out_of_logs(key: str | None) -> None:
    """Have the libraries that talk to providers log no key; may be called again."""
    if key and len(key) >= _SHORTEST:
        _filter.keys.add(key)
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_filter)
