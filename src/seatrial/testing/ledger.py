"""What a server was asked, and what went wrong with it; written by all its threads."""

from __future__ import annotations

import threading
import time
from dataclasses import fields

from seatrial.snapshot import JsonObject
from seatrial.testing.question import Protocol, Question, ReceivedRequest
from seatrial.text import one_line

__all__ = ["Ledger"]

_MOST_PROBLEMS = 1000


class Ledger:
    """The account of one server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: list[ReceivedRequest] = []
        self._in_flight: set[int] = set()
        self._most_in_flight = 0
        self._problems: list[str] = []
        self._first_cause: BaseException | None = None

    @property
    def requests(self) -> list[ReceivedRequest]:
        """A copy."""
        with self._lock:
            return list(self._requests)

    @property
    def most_in_flight(self) -> int:
        return self._most_in_flight

    @property
    def problems(self) -> list[str]:
        """A copy."""
        with self._lock:
            return list(self._problems)

    @property
    def first_cause(self) -> BaseException | None:
        """What the first answer function that failed had raised."""
        return self._first_cause

    def receive(
        self,
        question: Question,
        *,
        protocol: Protocol,
        path: str,
        headers: dict[str, str],
        body: JsonObject,
    ) -> ReceivedRequest:
        """Enter a request as arrived and in flight."""
        asked = {field.name: getattr(question, field.name) for field in fields(question)}
        with self._lock:
            request = ReceivedRequest(
                **asked,
                number=len(self._requests) + 1,
                protocol=protocol,
                path=path,
                headers=headers,
                body=body,
                started_s=time.monotonic(),
            )
            self._requests.append(request)
            self._in_flight.add(request.number)
            self._most_in_flight = max(self._most_in_flight, len(self._in_flight))
        return request

    def end(self, request: ReceivedRequest) -> None:
        """Enter that a request is in flight no more; a second time changes nothing."""
        with self._lock:
            self._in_flight.discard(request.number)

    def note(self, problem: str, *, cause: BaseException | None = None) -> None:
        """Enter what the user must hear of; may quote what a client sent."""
        with self._lock:
            if len(self._problems) < _MOST_PROBLEMS:
                self._problems.append(one_line(problem))
            if self._first_cause is None:
                self._first_cause = cause
