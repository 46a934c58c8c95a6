"""The server's life: its script, what it tells at the end, many at once, and closing."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from seatrial.errors import ModelServerError, UsageError
from seatrial.testing import ErrorReply, ModelServer, ReceivedRequest, Reply, TextReply

from .conftest import CHAT, HELLO, QUESTIONS, ask, connect, troubled


def said(server: ModelServer, text: str = "Hello!") -> Any:
    status, _, body = ask(server, messages=[{"role": "user", "content": text}])
    assert status == 200
    return json.loads(body)["choices"][0]["message"]["content"]


def test_replies_are_given_in_turn() -> None:
    with ModelServer(["one", ErrorReply(500), TextReply("three")]) as server:
        assert said(server) == "one"
        assert ask(server)[0] == 500
        assert said(server) == "three"


def test_one_answer_is_given_to_all() -> None:
    with ModelServer(answer="yes") as server:
        assert [said(server), said(server)] == ["yes", "yes"]
    assert server.problems == []


def test_a_function_answers_by_what_was_asked() -> None:
    def answer(request: ReceivedRequest) -> str:
        return request.messages[-1].text.upper()

    with ModelServer(answer=answer) as server:
        assert said(server, "loud") == "LOUD"


def test_requests_are_numbered_and_timed_in_the_order_of_arrival() -> None:
    before = time.monotonic()
    with ModelServer(answer="yes") as server:
        said(server)
        said(server)
        first, second = server.requests
    assert (first.number, second.number) == (1, 2)
    assert before <= first.started_s <= second.started_s <= time.monotonic()


def test_a_script_that_ends_too_early_is_an_error_that_no_sdk_retries() -> None:
    with troubled(
        r"request 2 \(openai-chat, model 'gpt-x'\): the scr", ModelServer(["one"])
    ) as server:
        said(server)
        status, headers, body = ask(server)
        assert (status, headers["x-should-retry"]) == (500, "false")
    assert (
        "the script has ended, its replies (1) are used up" in json.loads(body)["error"]["message"]
    )
    assert len(server.problems) == 1


def test_a_real_sdk_does_not_retry_a_request_that_the_script_does_not_know() -> None:
    openai = pytest.importorskip("openai", reason="the extra `llm` is not installed")
    with (
        troubled("the script has ended", ModelServer([])) as server,
        openai.OpenAI(base_url=server.openai_base_url, api_key="k") as client,
    ):
        with pytest.raises(openai.InternalServerError, match="the script has ended"):
            client.chat.completions.create(model="gpt-x", messages=HELLO)
        assert len(server.requests) == 1


def test_replies_left_over_are_no_problem() -> None:
    with ModelServer(["one", "two"]) as server:
        said(server)
    assert server.problems == []


def test_a_failing_function_is_raised_as_the_cause() -> None:
    def answer(request: ReceivedRequest) -> str:
        assert request.model == "gpt-y", f"asked {request.model}"
        return "yes"

    with (
        pytest.raises(ModelServerError, match="asked gpt-x") as caught,
        ModelServer(answer=answer) as server,
    ):
        assert ask(server)[0] == 500
    assert isinstance(caught.value.__cause__, AssertionError)


def test_pytests_own_failures_in_a_function_are_not_lost() -> None:
    with troubled(
        "never ask this", ModelServer(answer=lambda _: pytest.fail("never ask this"))
    ) as server:
        ask(server)


def test_a_function_that_gives_no_reply_is_told_what_one_is() -> None:
    with troubled(
        "a NoneType in the place of a reply: expected a s", ModelServer(answer=lambda _: None)
    ) as server:  # type: ignore[arg-type, return-value]
        ask(server)


def test_problems_do_not_hide_what_the_block_raised_but_are_noted_on_it() -> None:
    def ask_and_fail() -> None:
        with ModelServer([]) as server:
            ask(server)
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError) as caught:
        ask_and_fail()
    assert "the script has ended" in caught.value.__notes__[0]


def test_many_problems_are_counted_and_hostile_ones_escaped() -> None:
    with troubled(r"^[^\x1b]*and 2 more$", ModelServer([])) as server:
        for _ in range(12):
            ask(server, model="\x1b[2J" + "x" * 5000)
    assert len(server.problems) == 12
    assert all(len(problem) <= 500 for problem in server.problems)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "either replies or answer, and not both"),
        ({"replies": [], "answer": "yes"}, "either replies or answer, and not both"),
        ({"replies": "yes"}, "replies is one str"),
        ({"replies": ["yes", 7]}, "a int in the place of a reply"),
        ({"answer": 7}, "a int in the place of a reply"),
    ],
)
def test_a_script_that_is_none_is_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        ModelServer(**arguments)


def test_it_has_an_address_only_while_it_can_and_serves_once() -> None:
    server = ModelServer([])
    with pytest.raises(UsageError, match="inside `with` only"):
        _ = server.url
    with server:
        assert server.openai_base_url == f"{server.url}/v1"
        assert server.anthropic_base_url == server.url
    with pytest.raises(UsageError, match="serves once"):
        server.__enter__()


def test_requests_one_after_the_other_are_never_in_flight_together() -> None:
    in_pieces = TextReply("Paris", padding_bytes=200_000)
    with ModelServer(answer=in_pieces) as server:
        for _ in range(30):
            said(server)
        assert server.most_in_flight == 1


@pytest.mark.parametrize("clients", [50, 200])
def test_many_requests_are_answered_at_the_same_time(clients: int) -> None:
    together = threading.Barrier(clients)

    def answer(request: ReceivedRequest) -> str:
        together.wait(timeout=60)
        return request.messages[0].text

    with ModelServer(answer=answer) as server, ThreadPoolExecutor(clients) as pool:
        answers = list(pool.map(lambda number: said(server, str(number)), range(clients)))
        assert server.most_in_flight == clients
        assert sorted(request.number for request in server.requests) == [*range(1, clients + 1)]
    assert answers == [str(number) for number in range(clients)]


@pytest.mark.parametrize(
    "reply", [TextReply("late", delay_s=3000), TextReply("slow", pause_s=3000)]
)
def test_closing_ends_a_slow_reply_at_once(reply: Reply) -> None:
    arrived = threading.Event()

    def answer(_request: ReceivedRequest) -> Reply:
        arrived.set()
        return reply

    with ThreadPoolExecutor(1) as pool:
        with ModelServer(answer=answer) as server:
            asked = pool.submit(ask, server)
            assert arrived.wait(timeout=30)
        # The client itself would give up after 30 seconds, with another error.
        error = asked.exception(timeout=60)
    assert isinstance(error, (ConnectionError, http.client.HTTPException))
    assert server.problems == []


def test_closing_ends_idle_connections_and_the_threads_of_the_server() -> None:
    before = threading.active_count()
    with ModelServer(answer="yes") as server:
        connection = connect(server)
        connection.request("POST", CHAT, body=json.dumps(QUESTIONS[CHAT]))
        connection.getresponse().read()
        held = connection.sock
    assert isinstance(held, socket.socket)
    assert held.recv(1) == b""
    connection.close()
    assert threading.active_count() == before
    with pytest.raises(ConnectionError):
        ask(server)


def test_a_function_that_blocks_for_ever_does_not_block_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("seatrial.testing.connection._CLOSING_S", 0.1)
    arrived, release = threading.Event(), threading.Event()

    def answer(_request: ReceivedRequest) -> str:
        arrived.set()
        return str(release.wait(timeout=60))

    with ThreadPoolExecutor(1) as pool:
        with troubled("answers were still being made: 1;", ModelServer(answer=answer)) as server:
            asked = pool.submit(ask, server)
            assert arrived.wait(timeout=30)
        release.set()
        assert asked.exception(timeout=60) is not None
