"""How a reply goes over the wire: its head, and its body in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus

from seatrial.snapshot import JsonObject
from seatrial.testing.answer import answer_to
from seatrial.testing.dialects import Dialect
from seatrial.testing.question import ReceivedRequest
from seatrial.testing.replies import Completion, ErrorReply, RawReply, Reply

__all__ = ["Delivery", "deliver", "pieces_of"]

_JSON = "application/json"
_STREAM = "text/event-stream; charset=utf-8"
_PARTS = 8
_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Delivery:
    """A response, ready to be sent.

    Attributes:
        headers: Without those that frame the body.
        parts: The body in the parts between which a reply may pause.
        streamed: Sent without saying its length first.
    """

    status: int
    headers: dict[str, str]
    parts: tuple[bytes, ...]
    streamed: bool = False

    @property
    def size(self) -> int:
        """Bytes of the body, without padding."""
        return sum(len(part) for part in self.parts)


def deliver(reply: Reply, request: ReceivedRequest, dialect: Dialect) -> Delivery:
    """The response that `reply` is to `request`."""
    headers = {"request-id": f"req_{request.number}", "x-request-id": f"req_{request.number}"}
    if isinstance(reply, Completion):
        answer = answer_to(request, reply)
        if request.streamed:
            headers["Content-Type"] = reply.content_type or _STREAM
            events = tuple(dialect.events(answer, request))
            return Delivery(200, headers, events, streamed=True)
        status, body = 200, _encoded(dialect.document(answer, request))
    elif isinstance(reply, ErrorReply):
        status = reply.status
        message = reply.message or _in_words(status)
        body = _encoded(dialect.error(status, message))
        if reply.retry_after is not None:
            headers["Retry-After"] = _retry_after(reply.retry_after)
    else:
        assert isinstance(reply, RawReply)
        status, body = reply.status, reply.body
    headers["Content-Type"] = reply.content_type or _JSON
    return Delivery(status, headers, tuple(_split(body)))


def pieces_of(delivery: Delivery, padding_bytes: int, limit: int) -> Iterator[bytes]:
    """The body as it is sent, padding first, and nothing after `limit` bytes."""
    left = limit
    for piece in _padded(delivery, padding_bytes):
        if left <= 0:
            return
        yield piece[:left]
        left -= len(piece)


def _padded(delivery: Delivery, padding_bytes: int) -> Iterator[bytes]:
    for start in range(0, padding_bytes, _PIECE):
        length = min(_PIECE, padding_bytes - start)
        # A comment, or an empty line, which ends no event before there is one.
        yield (
            b":"[: length - 1] + b" " * (length - 2) + b"\n" if delivery.streamed else b" " * length
        )
    yield from delivery.parts


def _split(body: bytes) -> Iterator[bytes]:
    length = -(-len(body) // _PARTS) or 1
    for start in range(0, len(body), length):
        yield body[start : start + length]


def _encoded(document: JsonObject) -> bytes:
    return json.dumps(document).encode()


def _in_words(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"status {status}"


def _retry_after(value: float | datetime) -> str:
    if isinstance(value, datetime):
        return format_datetime(value.astimezone(UTC), usegmt=True)
    return f"{value:g}"
