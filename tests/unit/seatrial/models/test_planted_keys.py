"""Keys planted wherever a provider could repeat them, and looked for in all that is left behind."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest

from seatrial.errors import ModelProviderError
from seatrial.models import ask_structured, ask_text
from seatrial.scope import TrialScope, bind, unbind
from seatrial.snapshot import JsonObject
from seatrial.testing import (
    ErrorReply,
    ModelServer,
    RawReply,
    RefusalReply,
    Reply,
    StructuredReply,
    TextReply,
)

from .conftest import choice_of, everywhere

pytest.importorskip("pydantic_ai", reason="the extra `llm` is not installed")

KEY = "sk-planted-0123456789abcdef"
OTHER = "hunter2-hunter2-hunter2"
SCHEMA: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}}
PLANTED: list[Reply] = [
    TextReply(f"the key is {KEY}, the token {OTHER}"),
    RefusalReply(f"no: {KEY}"),
    ErrorReply(status=401, message=f"bad key {KEY} {OTHER}"),
    ErrorReply(status=404, message=f"{KEY}"),
    RawReply(f"<html>{KEY}{OTHER}</html>".encode(), content_type="text/html"),
    RawReply(f'{{"{KEY}": "{OTHER}"'.encode()),
    StructuredReply({"a": KEY}),
    StructuredReply({"a": "x", KEY: OTHER}),
    StructuredReply(f"{{'{KEY}"),
]


@everywhere
@pytest.mark.parametrize("reply", PLANTED, ids=lambda reply: type(reply).__name__)
@pytest.mark.parametrize("structured", [False, True], ids=["text", "structured"])
def test_a_planted_key_is_nowhere(
    protocol: str,
    reply: Reply,
    structured: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("SEATRIAL_MODEL_ATTEMPTS", "1")
    monkeypatch.setenv("SEATRIAL_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("SERVICE_TOKEN", OTHER)
    left: list[str] = []
    scope = TrialScope(key=None, nodeid="t")
    token = bind(scope)
    try:
        with caplog.at_level(logging.DEBUG), ModelServer(answer=reply) as server:
            choice = choice_of(server, protocol, key=KEY)
            left.append(repr(choice))
            try:
                if structured:
                    left.append(
                        repr(
                            ask_structured(
                                system="S", user="?", schema=SCHEMA, model=choice, stored=True
                            )
                        )
                    )
                else:
                    left.append(repr(ask_text(system="S", user="?", model=choice)))
            except ModelProviderError as error:
                left += [repr(error), *traceback.format_exception(error)]
    finally:
        unbind(token)
    left += [repr(scope.model_calls), caplog.text]
    left += [path.read_text("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    left += [str(path) for path in tmp_path.rglob("*")]
    # The server is the test's own; what it logs is no part of the client.
    text = "\n".join(left)
    assert len(scope.model_calls) == 1
    assert KEY not in text
    assert OTHER not in text
