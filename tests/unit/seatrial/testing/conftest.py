"""A plain client, and the expectation that a server has something to complain of."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPMessage
from typing import Any
from urllib.parse import urlsplit

import pytest

from seatrial.errors import ModelServerError
from seatrial.testing import ModelServer

CHAT = "/v1/chat/completions"
HELLO: Any = [{"role": "user", "content": "Hello!"}]
QUESTIONS: dict[str, dict[str, Any]] = {
    CHAT: {"model": "gpt-x", "messages": HELLO},
    "/v1/responses": {"model": "gpt-x", "input": "Hello!"},
    "/v1/messages": {"model": "claude-x", "max_tokens": 9, "messages": HELLO},
}


def connect(server: ModelServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)


def ask(server: ModelServer, path: str = CHAT, **more: Any) -> tuple[int, HTTPMessage, bytes]:
    """Status, headers and body of the answer to the path's question, changed by `more`."""
    connection = connect(server)
    try:
        connection.request("POST", path, body=json.dumps({**QUESTIONS[path], **more}))
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


@contextmanager
def troubled(match: str, server: ModelServer) -> Iterator[ModelServer]:
    """Serve, and expect that it ends in an error that matches."""
    with pytest.raises(ModelServerError, match=match), server:
        yield server
