"""A judge's model that answers what a test says, over real HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from kensa.judge import set_judge_provider
from seatrial.testing import ModelServer, ReceivedRequest, Reply

Answering = Callable[[ReceivedRequest], Reply]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ModelServer]]:
    """`serve(reply, ...)` or `serve(answer=...)`: a server that the judge asks, once a question."""
    with ExitStack() as servers:

        def start(*replies: Reply, answer: Reply | Answering | None = None) -> ModelServer:
            server = ModelServer(answer=answer) if answer is not None else ModelServer(replies)
            servers.enter_context(server)
            monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
            monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key-1234567890")
            monkeypatch.setenv("KENSA_JUDGE_MODEL", "openai:gpt-4o-mini")
            monkeypatch.setenv("SEATRIAL_MODEL_ATTEMPTS", "1")
            return server

        yield start


@pytest.fixture(autouse=True)
def _no_judge_is_left() -> Iterator[None]:
    yield
    set_judge_provider(None)
