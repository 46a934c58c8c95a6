"""A provider that takes few requests at once is asked by many, and answers all of them."""

from __future__ import annotations

import asyncio
import threading

import pytest

from seatrial.models import ask_text_async
from seatrial.testing import ErrorReply, ModelServer, ReceivedRequest, Reply, TextReply

from .conftest import choice_of

pytest.importorskip("pydantic_ai", reason="the extra `llm` is not installed")


def test_questions_that_are_refused_for_their_number_are_all_answered_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEATRIAL_MODEL_ATTEMPTS", "50")
    lock = threading.Lock()
    refused = 0

    def answer(request: ReceivedRequest) -> Reply:
        nonlocal refused
        with lock:
            # Of what arrives together, every other is too much, until half of all were refused.
            if request.number % 2 == 0 and refused < 20:
                refused += 1
                return ErrorReply(status=429, retry_after=0)
        return TextReply("Paris", delay_s=0.01)

    async def ask_all() -> list[str]:
        with ModelServer(answer=answer) as server:
            asked = (
                ask_text_async(system="S", user="?", model=choice_of(server)) for _ in range(40)
            )
            return [answered.text for answered in await asyncio.gather(*asked)]

    assert asyncio.run(ask_all()) == ["Paris"] * 40
    assert refused == 20
