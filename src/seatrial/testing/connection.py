"""HTTP on loopback: one thread per connection, all of which end when the server closes."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from seatrial.snapshot import JsonObject
from seatrial.testing.delivery import Delivery, deliver, pieces_of
from seatrial.testing.dialects import Dialect, dialect_of, error_in, models_in
from seatrial.testing.ledger import Ledger
from seatrial.testing.question import ReceivedRequest
from seatrial.testing.reading import UnreadableRequestError, read_json
from seatrial.testing.replies import AnyReply, Reply, as_reply

__all__ = ["LARGEST_REQUEST_BYTES", "Answering", "LoopbackServer"]

Answering: TypeAlias = Callable[[ReceivedRequest], AnyReply]

LARGEST_REQUEST_BYTES = 32 * 1024 * 1024
"""More is answered with 413, as providers do."""

_CLOSING_S = 5.0
_DISCARDING_S = 1.0
_MOST_DISCARDED_BYTES = 8 * LARGEST_REQUEST_BYTES
_MOST_AT_ONCE_BYTES = 64 * 1024


class _CutError(Exception):
    """The connection ends here, as scripted, or because the server closes."""


class LoopbackServer(ThreadingHTTPServer):
    """The listening socket, and the connections that are open."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 1024  # connections that arrive at the same time must not be refused

    def __init__(self, answer: Answering, ledger: Ledger) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.ledger = ledger
        self.closing = threading.Event()
        self._changed = threading.Condition()
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._changed:
            super().shutdown_request(request)
            self._open.discard(request)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        # Whoever hangs up early, as clients with a time limit do, is no problem of the server's.
        if not isinstance(error, (OSError, _CutError)):
            self.ledger.note(f"the server itself failed: {error!r}", cause=error)

    def close(self) -> None:
        """End every connection and delay, and `serve_forever`, which must be another thread's."""
        self.closing.set()
        self.shutdown()
        self.server_close()
        with self._changed:
            for connection in self._open:
                with contextlib.suppress(OSError):  # the client may have been faster
                    connection.shutdown(socket.SHUT_RDWR)
            until = time.monotonic() + _CLOSING_S
            while self._open and time.monotonic() < until:
                self._changed.wait(until - time.monotonic())
            if self._open:
                self.ledger.note(
                    f"{_CLOSING_S:g} s after closing, answers were still being made:"
                    f" {len(self._open)}; the answer function blocks"
                )


class _Handler(BaseHTTPRequestHandler):
    """One connection: its requests, one after the other."""

    server: LoopbackServer
    protocol_version = "HTTP/1.1"
    server_version = "seatrial"
    sys_version = ""
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        path = urlsplit(self.path).path.rstrip("/")
        if path.endswith("/models"):
            self._send_document(200, models_in(self._headers()))
        else:
            self._fail(404, f"GET {path}: this server only lists models")

    def do_POST(self) -> None:
        path = urlsplit(self.path).path.rstrip("/")
        sent = self._read_body()
        if sent is None:
            return
        spoken = dialect_of(path)
        if spoken is None:
            self._fail(404, f"POST {path}: expected .../chat/completions, /responses or /messages")
            return
        protocol, dialect = spoken
        try:
            body = read_json(sent)
            question = dialect.read(body, self.path)
        except UnreadableRequestError as error:
            self._fail(400, f"POST {path}: {error}", dialect=dialect)
            return
        request = self.server.ledger.receive(
            question, protocol=protocol, path=self.path, headers=self._headers(), body=body
        )
        try:
            self._answer(request, dialect)
        finally:
            self.server.ledger.end(request)

    def _answer(self, request: ReceivedRequest, dialect: Dialect) -> None:
        try:
            reply = as_reply(self.server.answer(request))
        except BaseException as error:  # noqa: BLE001 - the user's function, which may call pytest.fail
            self.server.ledger.end(request)
            where = f"request {request.number} ({request.protocol}, model {request.model!r})"
            said = str(error) or type(error).__name__
            self._fail(500, f"{where}: {said}", dialect, cause=error)
            return
        self._wait(reply.delay_s)
        if reply.cut == "head":
            self.server.ledger.end(request)
            raise _CutError
        self._send(deliver(reply, request, dialect), reply, request)

    def _send(self, delivery: Delivery, reply: Reply, request: ReceivedRequest) -> None:
        size = delivery.size + reply.padding_bytes
        self.send_response(delivery.status)
        for name, value in delivery.headers.items():
            self.send_header(name, value)
        if delivery.streamed:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(size))
        left = size // 2 if reply.cut == "body" else size
        if not left:
            self.server.ledger.end(request)
        self.end_headers()
        for piece in pieces_of(delivery, reply.padding_bytes, left):
            self._wait(reply.pause_s)
            left -= len(piece)
            if not left:
                # Whoever has read all of an answer must be able to count on its being over.
                self.server.ledger.end(request)
            framed = b"%x\r\n%b\r\n" % (len(piece), piece) if delivery.streamed else piece
            self.wfile.write(framed)
        if reply.cut == "body":
            raise _CutError
        if delivery.streamed:
            self.wfile.write(b"0\r\n\r\n")

    def _read_body(self) -> bytes | None:
        """The request's body; None if it was refused, which is answered and noted."""
        announced = self.headers.get("Content-Length", "")
        if not (announced.isascii() and announced.isdigit()):
            self._fail(411, f"Content-Length {announced!r}: expected the body's size in bytes")
            self._discard_body()
            return None
        # Compared as text first: Python refuses to read numbers of thousands of digits.
        if len(announced) > 20 or int(announced) > LARGEST_REQUEST_BYTES:
            self._fail(413, f"a body of {announced} bytes: at most {LARGEST_REQUEST_BYTES}")
            self._discard_body()
            return None
        body = self.rfile.read(int(announced))
        if len(body) < int(announced):
            raise _CutError
        return body

    def _discard_body(self) -> None:
        """Take what still comes: the system drops a response if its reader's bytes are not read."""
        self.connection.settimeout(_DISCARDING_S)
        left = _MOST_DISCARDED_BYTES
        with contextlib.suppress(OSError):
            while left > 0 and (piece := self.rfile.read1(_MOST_AT_ONCE_BYTES)):
                left -= len(piece)

    def _fail(
        self,
        status: int,
        message: str,
        dialect: Dialect | None = None,
        *,
        cause: BaseException | None = None,
    ) -> None:
        """Answer with an error that is nobody's script, and note it."""
        self.server.ledger.note(message, cause=cause)
        document = (
            dialect.error(status, message)
            if dialect
            else error_in(self._headers(), status, message)
        )
        self._send_document(status, document)

    def _send_document(self, status: int, document: JsonObject) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status >= 400:
            self.send_header("x-should-retry", "false")  # both SDKs heed it: it cannot get better
            self.send_header("Connection", "close")  # what is left of the request is not another
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Called for what is no proper HTTP."""
        self.server.ledger.note(f"no request that can be read: {message or code}")
        super().send_error(code, message, explain)

    def log_message(self, *_: Any) -> None:
        """Nothing: requests are in the ledger, and a test's output is not ours."""

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _wait(self, delay_s: float) -> None:
        if self.server.closing.wait(delay_s) if delay_s else self.server.closing.is_set():
            raise _CutError
