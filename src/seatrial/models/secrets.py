"""Keys kept out of all that is shown or stored, wherever a provider repeats them."""

from __future__ import annotations

import base64
import html
import json
import logging
import os
import traceback
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, unquote, urlsplit

from seatrial.snapshot import Json

__all__ = ["keep_out", "without_keys", "without_password"]

_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
_SHORTEST = 8
"""Characters; what is shorter would be found in ordinary words."""

_LIBRARIES = ("anthropic", "httpcore", "httpcore2", "httpx", "httpx2", "openai", "pydantic_ai")
"""Whose loggers write what was sent and received."""

_kept_out: dict[str, str] = {}
"""Keys that this process used, by what they are called: the environment may know others by now."""


def without_keys(value: Json, *, key: str | None = None, url: str | None = None) -> Json:
    """A copy of `value` with every key in it replaced by its name.

    Keys are the values of environment variables that end in `_KEY`, `_TOKEN`, `_SECRET` or
    `_PASSWORD`, what `keep_out` was told, and what is given here.

    Args:
        value: Text, or JSON with text in it.
        key: Another key.
        url: An address that may hold a password.
    """
    return _replaced(value, _spellings({**_kept_out, **_given(key, url), **_of_environment()}))


def without_password(url: str) -> str:
    """`url` without the user and password that it may name."""
    parts = urlsplit(url)
    _, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"[password]@{host}").geturl() if at else url


def keep_out(*, key: str | None, url: str | None) -> None:
    """Have `without_keys` know a key for the rest of the process, and no library log any.

    Args:
        key: What a provider is sent.
        url: Its address, which may hold a password.
    """
    _kept_out.update({**_given(key, url), **_of_environment()})
    for name in (*_LIBRARIES, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LIBRARIES:
            logging.getLogger(name).addFilter(_filter)


def _of_environment() -> dict[str, str]:
    return {
        value: name
        for name, value in os.environ.items()
        if name.upper().endswith(_ENDINGS) and len(value) >= _SHORTEST
    }


def _given(key: str | None, url: str | None) -> dict[str, str]:
    given = {key: "key"} if key else {}
    parts = urlsplit(url or "")
    for part, name in ((parts.username, "user"), (parts.password, "password")):
        if part:
            given[unquote(part)] = name
    if parts.username and parts.password:
        pair = f"{unquote(parts.username)}:{unquote(parts.password)}"
        given[base64.b64encode(pair.encode()).decode()] = "password"  # as the header has it
    return {value: name for value, name in given.items() if len(value) >= _SHORTEST}


def _spellings(known: Mapping[str, str]) -> list[tuple[str, str]]:
    """Each key in all its spellings, the longest first: one may hold another."""
    spelled = {text: name for value, name in known.items() for text in _spelled(value)}
    return sorted(spelled.items(), key=lambda entry: -len(entry[0]))


def _spelled(key: str) -> Iterator[str]:
    """A key as it is, and as it stands in a URL, in HTML, and in JSON."""
    yield from (key, quote(key, ""), html.escape(key), key.replace("/", "\\/"))
    yield json.dumps(key)[1:-1]


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
    """Writes each record anew, its traceback too, without keys."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = without_keys(record.getMessage()), ()
        if record.exc_info and record.exc_info[1] is not None:
            told = "".join(traceback.format_exception(record.exc_info[1])).rstrip()
            record.exc_text, record.exc_info = str(without_keys(told)), None
        return True


_filter = _KeyFilter()
