"""What goes over the wire: faults that a script asks for, and clients that misbehave."""

from __future__ import annotations

import http.client
import json
import re
import socket
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from urllib.parse import urlsplit

import pytest

from seatrial.testing import ErrorReply, ModelServer, RawReply, TextReply
from seatrial.testing.connection import LARGEST_REQUEST_BYTES

from .conftest import CHAT, HELLO, QUESTIONS, ask, connect, troubled

_streamed_or_not = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
_everywhere = pytest.mark.parametrize("path", QUESTIONS)


def send(server: ModelServer, sent: bytes) -> bytes:
    """All that the server answers to `sent` before it closes the connection."""
    address = urlsplit(server.url)
    assert address.hostname
    with socket.create_connection((address.hostname, address.port or 0), timeout=30) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))


@_everywhere
@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 503, 529])
def test_an_error_has_the_shape_of_its_provider(path: str, status: int) -> None:
    with ModelServer(answer=ErrorReply(status, "Not today.")) as server:
        answered, headers, body = ask(server, path)
    error = json.loads(body)
    assert (answered, headers["Content-Type"]) == (status, "application/json")
    assert "Retry-After" not in headers
    assert "x-should-retry" not in headers
    assert error["error"]["message"] == "Not today."
    assert error["error"]["type"].endswith(("_error", "requests", "request_too_large"))
    assert ("param" in error["error"]) == (path != "/v1/messages")
    assert (error.get("type") == "error") == (path == "/v1/messages")


@pytest.mark.parametrize(("status", "words"), [(429, "Too Many Requests"), (529, "status 529")])
def test_an_error_without_a_message_says_its_status(status: int, words: str) -> None:
    with ModelServer(answer=ErrorReply(status)) as server:
        assert json.loads(ask(server)[2])["error"]["message"] == words


@pytest.mark.parametrize(
    ("retry_after", "header"),
    [
        (2, "2"),
        (0.25, "0.25"),
        (datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC), "Wed, 02 Jan 2030 03:04:05 GMT"),
        (
            datetime(2030, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))),
            "Wed, 02 Jan 2030 01:04:05 GMT",
        ),
    ],
)
def test_retry_after_is_seconds_or_a_date(retry_after: Any, header: str) -> None:
    with ModelServer(answer=ErrorReply(429, retry_after=retry_after)) as server:
        assert ask(server)[1]["Retry-After"] == header


@_everywhere
@_streamed_or_not
def test_a_connection_cut_before_the_head_answers_nothing(path: str, stream: bool) -> None:
    with ModelServer([TextReply("never", cut="head"), "next"]) as server:
        with pytest.raises(http.client.RemoteDisconnected):
            ask(server, path, stream=stream)
        assert ask(server, path, stream=stream)[0] == 200


@_everywhere
@_streamed_or_not
def test_a_connection_cut_in_the_body_leaves_half_of_it(path: str, stream: bool) -> None:
    with ModelServer([TextReply("Paris"), TextReply("Paris", cut="body")]) as server:
        whole = ask(server, path, stream=stream)[2]
        with pytest.raises(http.client.IncompleteRead) as caught:
            ask(server, path, stream=stream)
    assert len(caught.value.partial) in range(1, len(whole))


@_streamed_or_not
def test_a_slow_answer_is_the_same_answer(stream: bool) -> None:
    reply = TextReply("Paris", delay_s=0.01, pause_s=0.001)
    with ModelServer([TextReply("Paris"), reply]) as server:
        fast, slow = (ask(server, stream=stream)[2] for _ in range(2))
    assert _timeless(slow) == _timeless(fast)


def _timeless(body: bytes) -> bytes:
    body = re.sub(rb'"created": \d+', b"", body)
    return re.sub(rb"chatcmpl-\d+", b"", body)


def test_a_wrong_content_type_is_sent_as_told() -> None:
    with ModelServer(answer=TextReply("Paris", content_type="text/html")) as server:
        assert ask(server)[1]["Content-Type"] == "text/html"
        assert ask(server, stream=True)[1]["Content-Type"] == "text/html"


@_everywhere
@_streamed_or_not
@pytest.mark.parametrize("padding_bytes", [1, 2, 65536, 65537, 5_000_000])
def test_a_huge_body_is_still_the_answer(path: str, stream: bool, padding_bytes: int) -> None:
    replies = [TextReply("Paris"), TextReply("Paris", padding_bytes=padding_bytes)]
    with ModelServer(replies) as server:
        plain, huge = (ask(server, path, stream=stream)[2] for _ in range(2))
    assert len(huge) == len(plain) + padding_bytes
    assert huge[padding_bytes:][:6] == plain[:6]
    padding = huge[:padding_bytes]
    assert not padding.strip(b" :\n") if stream else padding == b" " * padding_bytes
    if not stream:
        json.loads(huge)


def test_a_padded_stream_is_read_by_a_real_sdk() -> None:
    openai = pytest.importorskip("openai", reason="the extra `llm` is not installed")
    with (
        ModelServer(answer=TextReply("Paris", padding_bytes=65537)) as server,
        openai.OpenAI(base_url=server.openai_base_url, api_key="k", max_retries=0) as client,
    ):
        chunks = list(client.chat.completions.create(model="m", messages=HELLO, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Paris"


@pytest.mark.parametrize(
    ("reply", "content_type"),
    [
        (RawReply(b"\xff\x00{", status=203), "application/json"),
        (RawReply(b"<html>", status=502, content_type="text/html"), "text/html"),
        (RawReply(b""), "application/json"),
    ],
)
def test_raw_bytes_are_sent_and_nothing_else(reply: RawReply, content_type: str) -> None:
    with ModelServer(answer=reply) as server:
        status, headers, body = ask(server, stream=True)
    assert (status, headers["Content-Type"], body) == (reply.status, content_type, reply.body)


def test_one_connection_serves_several_requests() -> None:
    with ModelServer(answer="yes") as server:
        connection = connect(server)
        ports = set()
        for stream in (False, True, False):
            connection.request("POST", CHAT, json.dumps({**QUESTIONS[CHAT], "stream": stream}))
            ports.add(connection.sock.getsockname())
            connection.getresponse().read()
        connection.close()
    assert len(ports) == 1


def test_a_client_that_leaves_is_no_problem_of_the_servers() -> None:
    with ModelServer(answer=TextReply("Paris", padding_bytes=50_000_000)) as server:
        connection = connect(server)
        connection.request("POST", CHAT, json.dumps(QUESTIONS[CHAT]))
        connection.getresponse().read(10)
        connection.close()
        assert ask(server)[0] == 200
    assert server.problems == []


@_everywhere
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": 7}, "model: expected text, not a int"),
        ({"tools": {}}, "tools: expected a list, not a dict"),
        ({"tools": [7]}, r"tools\[0\]: expected an object, not a int"),
        ({"messages": [], "input": []}, ".*expected .*at least one"),
        ({"messages": 7, "input": 7}, ".*expected a list, not a int"),
        ({"messages": [{}], "input": [{}]}, "role: expected text, not nothing"),
        (
            {
                "messages": [{"role": "user", "content": 7}],
                "input": [{"role": "user", "content": 7}],
            },
            "content: expected text or a list, not a int",
        ),
    ],
)
def test_a_question_that_no_provider_understands_is_refused_and_told(
    path: str, change: dict[str, Any], reason: str
) -> None:
    with troubled(f"POST {path}: {reason}", ModelServer(answer="yes")) as server:
        assert ask(server, path, **change)[0] == 400
        assert server.requests == []


@pytest.mark.parametrize(
    ("path", "choice"),
    [
        (CHAT, {"type": "function", "function": {"name": "nonsense"}}),
        ("/v1/responses", {"type": "function", "name": "nonsense"}),
        ("/v1/messages", {"type": "tool", "name": "nonsense"}),
    ],
)
def test_a_forced_tool_that_is_not_offered_is_refused(path: str, choice: Any) -> None:
    with troubled(
        r"tool_choice: 'nonsense' is none of the tools \[", ModelServer(answer="yes")
    ) as server:
        assert ask(server, path, tool_choice=choice)[0] == 400


def test_anthropics_messages_need_a_limit() -> None:
    with troubled("max_tokens: expected a whole number", ModelServer(answer="yes")) as server:
        assert ask(server, "/v1/messages", max_tokens=None)[0] == 400


def _post(body: bytes, path: str = CHAT, length: str | None = None) -> bytes:
    announced = str(len(body)) if length is None else length
    return f"POST {path} HTTP/1.1\r\nContent-Length: {announced}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("sent", "status", "reason"),
    [
        (_post(b"[]"), 400, "the body is a JSON list: expected an object"),
        (_post(b"{"), 400, "the body is not JSON"),
        (_post(b'{"model": NaN}'), 400, "NaN is not JSON"),
        (_post(b"\xff\xfe\x00"), 400, "the body is not JSON"),
        (_post(b"[" * 100_000), 400, "nested too deeply"),
        (_post(b'{"a": ' + b"9" * 5000 + b"}"), 400, "the body is not JSON"),
        (_post(b"{}", path="/v1/embeddings"), 404, "POST /v1/embeddings: expected .../chat"),
        (_post(b"", length="-1"), 411, "Content-Length '-1': expected the body's size"),
        (_post(b"", length="two"), 411, "Content-Length 'two'"),
        (_post(b"", length="9" * 5000), 413, "a body of 9999"),
        (_post(b"x" * 1000, length=str(LARGEST_REQUEST_BYTES + 1)), 413, "at most 33554432"),
        (f"POST {CHAT} HTTP/1.1\r\n\r\n".encode(), 411, "Content-Length ''"),
        (b"GET /v1/files HTTP/1.1\r\n\r\n", 404, "GET /v1/files: this server only lists models"),
        (b"DELETE /v1/models HTTP/1.1\r\n\r\n", 501, "no request that can be read"),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", 414, "no request that can be read"),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n", 431, "no request that can be read"),
        (b"\x16\x03\x01\x02\x00\x01\x00\n\x00\x00", 400, "no request that can be read"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_client_that_misbehaves_gets_an_error_and_the_test_is_told(
    sent: bytes, status: int, reason: str
) -> None:
    with troubled(re.escape(reason), ModelServer(answer="yes")) as server:
        assert re.search(rf"(HTTP/1.1|Error code:) {status}\b".encode(), send(server, sent))
        assert server.requests == []
        assert ask(server)[0] == 200


def test_a_body_that_is_too_large_is_told_so_to_a_client_that_sends_it_all() -> None:
    with troubled("at most 33554432", ModelServer(answer="yes")) as server:
        assert ask(server, padding="x" * LARGEST_REQUEST_BYTES)[0] == 413


@pytest.mark.parametrize("sent", [b"", b"\r\n", _post(b"{", length="100")])
def test_a_client_that_stops_half_way_is_let_go(sent: bytes) -> None:
    with ModelServer(answer="yes") as server:
        send(server, sent)
        assert ask(server)[0] == 200
        assert len(server.requests) == 1
