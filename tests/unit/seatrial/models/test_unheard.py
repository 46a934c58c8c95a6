from __future__ import annotations

import asyncio
import threading
import warnings

import pytest

from seatrial.models import ask_text, ask_text_async
from seatrial.testing import ModelServer, ReceivedRequest, Reply, TextReply

pytest.importorskip("pydantic_ai", reason="the extra `llm` is not installed")


@pytest.fixture
def reasoning_model(monkeypatch: pytest.MonkeyPatch) -> str:
    """A model that takes no temperature: pydantic-ai leaves it out, and warns."""
    monkeypatch.setenv("OPENAI_API_KEY", "none-1234567890")
    return "openai:o3-mini"


def test_a_setting_that_a_model_does_not_take_is_no_error_where_warnings_are(
    reasoning_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seatrial.models import RequestSettings

    with ModelServer([TextReply("yes")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        settings = RequestSettings(temperature=0.0)

        answer = ask_text(system="", user="?", model=reasoning_model, settings=settings)

        assert answer.text == "yes"  # warnings are errors in these tests
        assert "temperature" not in server.requests[0].body


def test_the_library_warns_everybody_else_as_ever(
    reasoning_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pydantic_ai import models

    with ModelServer([TextReply("yes")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        ask_text(system="", user="?", model=reasoning_model)

    seen = vars(models)["warnings"]
    assert seen is not warnings
    with pytest.warns(UserWarning, match="for the agent") as heard:
        seen.warn("for the agent", UserWarning, stacklevel=1)
    assert heard[0].filename == __file__


@pytest.mark.asyncio
async def test_questions_in_flight_change_no_filter_of_the_process(
    reasoning_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrived = threading.Semaphore(0)
    goes_on = threading.Event()

    def answer(_: ReceivedRequest) -> Reply:
        arrived.release()
        assert goes_on.wait(30)
        return TextReply("yes")

    before = list(warnings.filters)
    with ModelServer(answer=answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        asked = [
            asyncio.create_task(ask_text_async(system="", user=str(n), model=reasoning_model))
            for n in range(3)
        ]
        for _ in asked:
            assert await asyncio.to_thread(arrived.acquire, timeout=30)
        during = list(warnings.filters)
        goes_on.set()
        await asyncio.gather(*asked)

    assert during == before
    assert list(warnings.filters) == before
