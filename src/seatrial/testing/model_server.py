"""A language model on loopback that says what a test tells it to."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self
from weakref import WeakSet

from seatrial.errors import ModelServerError, UsageError
from seatrial.testing.connection import Answering, LoopbackServer
from seatrial.testing.ledger import Ledger
from seatrial.testing.question import ReceivedRequest
from seatrial.testing.replies import AnyReply, as_reply

__all__ = ["ModelServer", "recent_requests"]

_POLL_S = 0.02
_PROBLEMS_SHOWN = 10
_RECENT = 1_000


_servers: WeakSet[ModelServer] = WeakSet()


class ModelServer:
    """A server that speaks OpenAI's chat completions and responses and Anthropic's messages.

    It serves inside `with`, from threads of its own, on a port of 127.0.0.1 that the system picks.

    Whatever it could not answer as told (the script had ended, the answer function raised, the
    path or the request is none of the three protocols') it answers with an error that SDKs do not
    retry, keeps in `problems`, and raises at the end of `with` as `ModelServerError`; if the block
    raised something itself, that goes on, with the problems as a note.

    Args:
        replies: What is answered, in turn, in the order in which requests arrive.
        answer: What is answered to every request: one reply, or a function that makes it. The
            function is called from several threads at once.

    Raises:
        UsageError: Unless there is exactly one of `replies` and `answer`, made of replies.
    """

    def __init__(
        self,
        replies: Iterable[AnyReply] | None = None,
        *,
        answer: AnyReply | Answering | None = None,
    ) -> None:
        if (replies is None) == (answer is None):
            raise UsageError("a ModelServer needs either replies or answer, and not both")
        self._ledger = Ledger()
        self._answer = _in_turn(replies) if replies is not None else _always(answer)
        self._server: LoopbackServer | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._server is not None:
            raise UsageError("a ModelServer serves once: make another")
        server = LoopbackServer(self._answer, self._ledger)
        self._server = server
        _servers.add(self)
        self._thread = threading.Thread(
            target=server.serve_forever,
            kwargs={"poll_interval": _POLL_S},
            name="seatrial-model-server",
            daemon=True,
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        assert self._thread is not None
        self._server.close()
        self._thread.join()
        problems = self.problems
        if not problems:
            return
        text = _described(problems)
        if error is not None:
            error.add_note(text)
            return
        cause = self._ledger.first_cause
        raise ModelServerError(text) from None if isinstance(cause, ModelServerError) else cause

    @property
    def url(self) -> str:
        """The server's address without a path; Azure's SDK calls it the endpoint.

        Raises:
            UsageError: If the server never served.
        """
        if self._server is None:
            raise UsageError("a ModelServer has an address inside `with` only")
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def openai_base_url(self) -> str:
        """What OpenAI's SDK takes as `base_url`, or from OPENAI_BASE_URL."""
        return f"{self.url}/v1"

    @property
    def anthropic_base_url(self) -> str:
        """What Anthropic's SDK takes as `base_url`, or from ANTHROPIC_BASE_URL."""
        return self.url

    @property
    def requests(self) -> list[ReceivedRequest]:
        """What models were asked so far, in order of arrival. Lists of models are not in it."""
        return self._ledger.requests

    @property
    def most_in_flight(self) -> int:
        """How many requests at most were being answered at one time."""
        return self._ledger.most_in_flight

    @property
    def problems(self) -> list[str]:
        """What could not be answered as told, safe for a terminal."""
        return self._ledger.problems


def recent_requests() -> Iterator[ReceivedRequest]:
    """The last requests of every server of this process that has not been forgotten."""
    for server in list(_servers):
        yield from server.requests[-_RECENT:]


def _in_turn(replies: Iterable[AnyReply]) -> Answering:
    if isinstance(replies, str):
        raise UsageError("replies is one str: expected a list of replies, or answer= for all")
    script = [as_reply(entry) for entry in replies]

    def answer(request: ReceivedRequest) -> AnyReply:
        if request.number > len(script):
            raise ModelServerError(f"the script has ended, its replies ({len(script)}) are used up")
        return script[request.number - 1]

    return answer


def _always(answer: AnyReply | Answering | None) -> Answering:
    if callable(answer):
        return answer
    reply = as_reply(answer)
    return lambda _request: reply


def _described(problems: list[str]) -> str:
    shown = problems[:_PROBLEMS_SHOWN]
    if len(problems) > len(shown):
        shown.append(f"and {len(problems) - len(shown)} more")
    return "the model server could not answer as told: " + "; ".join(shown)
