"""A provider on loopback that speaks OpenAI's chat completions, for the real SDKs to talk to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Provider:
    """What the provider answers, and what it was asked.

    Attributes:
        content: The answer's text; for a question with a schema, the JSON of it.
        status: HTTP status of the answer; with an error, `content` is its message.
        hold: Not answered before this is set.
    """

    base_url: str
    content: str = "Paris"
    status: int = 200
    hold: threading.Event = field(default_factory=threading.Event)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if request.get("tools"):
            function = {
                "name": request["tools"][0]["function"]["name"],
                "arguments": self.content,
            }
            call = {"id": "call-1", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {
            "id": "chat-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request["model"],
            "choices": [choice],
            "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
        }


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """The provider, with the environment pointing OpenAI's SDK to it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            provider.requests.append(request)
            provider.keys.append(self.headers["Authorization"])
            provider.hold.wait(timeout=30)
            document = (
                provider.answer(request)
                if provider.status == 200
                else {"error": {"message": provider.content, "type": "invalid_request_error"}}
            )
            body = json.dumps(document).encode()
            self.send_response(provider.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider = Provider(base_url=f"http://127.0.0.1:{server.server_port}/v1")
        provider.hold.set()
        monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-1234567890")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield provider
        provider.hold.set()
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here reaches a provider that the machine's user configured."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
