"""Questions to the embedded model: the real one."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import pytest

from seatrial.errors import ModelProviderError
from seatrial.models import ask_structured, ask_text, embedded, local_server
from seatrial.models.answer import Question
from seatrial.models.local import LocalModel, release_local_model

_needs_the_extra = pytest.mark.skipif(
    local_server.find_weights() is None, reason="the extra `local` is not installed"
)
_QUESTION = Question(system="", user="Hello", schema=None, timeout_s=10.0)


@pytest.fixture(scope="module", autouse=True)
def _use() -> Iterator[None]:
    yield
    release_local_model()


@_needs_the_extra
def test_a_structured_answer_fits_the_schema() -> None:
    answer = ask_structured(
        system="Name colours.",
        user="Which colour has the sky?",
        schema={
            "type": "object",
            "properties": {
                "why": {"type": "string"},
                "colours": {"type": "array", "items": {"enum": ["blue", "red"]}, "minItems": 1},
                "sure": {"type": "boolean"},
            },
            "required": ["why", "colours", "sure"],
            "additionalProperties": False,
        },
        model="local",
    )
    assert set(answer.data) == {"why", "colours", "sure"}
    assert isinstance(answer.data["why"], str)
    assert isinstance(answer.data["sure"], bool)
    colours = answer.data["colours"]
    assert isinstance(colours, list)
    assert set(map(str, colours)) <= {"blue", "red"}
    assert (answer.provider, answer.model, answer.cost_usd) == ("local", "local", 0.0)
    assert answer.input_tokens > 0
    assert answer.output_tokens > 0


@_needs_the_extra
@pytest.mark.asyncio
async def test_a_text_answer_arrives_inside_a_running_event_loop() -> None:
    answer = ask_text(system="Answer in one word.", user="Capital of France?", provider="local")
    assert answer.text.strip()


@_needs_the_extra
def test_a_schema_that_means_nothing_is_refused_with_the_engines_words() -> None:
    with pytest.raises(ModelProviderError, match=r"the local model answered 400: .*wizard"):
        ask_structured(system="", user="", schema={"type": "wizard"}, model="local")


def test_a_server_that_went_away_is_the_providers_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedded, "local_model", lambda: LocalModel("http://127.0.0.1:1/v1"))
    with pytest.raises(ModelProviderError, match="the local model went away"):
        embedded.ask(_QUESTION)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": null}]}']
)
def test_an_answer_in_another_form_is_the_providers_failure(
    monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        answering = threading.Thread(target=server.handle_request)
        answering.start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        monkeypatch.setattr(embedded, "local_model", lambda: LocalModel(url))
        with pytest.raises(ModelProviderError, match="the local model answered"):
            embedded.ask(_QUESTION)
        answering.join()
