"""What is asked again, how often and when: real SDKs, over real HTTP."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from seatrial.errors import ModelConfigurationError, ModelProviderError
from seatrial.models import (
    ModelChoice,
    RequestSettings,
    StructuredAnswer,
    ask_structured,
    ask_text,
)
from seatrial.testing import (
    ErrorReply,
    ModelServer,
    RawReply,
    RefusalReply,
    Reply,
    StructuredReply,
    TextReply,
    ToolCall,
    ToolCallReply,
)

from .conftest import ANSWER, SCHEMA, choice_of, everywhere

pytest.importorskip("pydantic_ai", reason="the extra `llm` is not installed")

_PARIS = TextReply("Paris")


def _text(server: ModelServer, protocol: str = "openai-chat", timeout_s: float = 60.0) -> str:
    return ask_text(
        system="Be brief.",
        user="Capital of France?",
        model=choice_of(server, protocol),
        timeout_s=timeout_s,
    ).text


def _structured(server: ModelServer, protocol: str = "openai-chat") -> StructuredAnswer:
    return ask_structured(
        system="Judge.", user="Hello!", schema=SCHEMA, model=choice_of(server, protocol)
    )


def _failure(server: ModelServer, protocol: str = "openai-chat") -> ModelProviderError:
    with pytest.raises(ModelProviderError) as caught:
        _structured(server, protocol)
    return caught.value


@everywhere
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_a_status_that_may_pass_is_asked_again(protocol: str, status: int) -> None:
    with ModelServer([ErrorReply(status, retry_after=0), _PARIS]) as server:
        answer = ask_text(system="", user="Capital?", model=choice_of(server, protocol))
    assert (answer.text, answer.attempts) == ("Paris", 2)


@everywhere
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_status_that_stays_is_not_asked_again(protocol: str, status: int) -> None:
    with ModelServer([ErrorReply(status, "no", retry_after=0)]) as server:
        error = _failure(server, protocol)
    assert (error.kind, error.status, len(server.requests)) == ("status", status, 1)
    assert "no" in str(error)


@everywhere
@pytest.mark.parametrize("cut", ["head", "body"])
def test_a_lost_connection_is_asked_again(protocol: str, cut: str) -> None:
    lost = TextReply("lost", cut=cut)  # type: ignore[arg-type]
    with ModelServer([lost, _PARIS]) as server:
        answer = ask_text(system="", user="Capital?", model=choice_of(server, protocol))
    assert (answer.text, answer.attempts) == ("Paris", 2)


@everywhere
def test_an_endpoint_that_stays_overloaded_is_given_up_on(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEATRIAL_MODEL_ATTEMPTS", "3")
    with ModelServer(answer=ErrorReply(429, "slow down", retry_after=0)) as server:
        error = _failure(server, protocol)
    assert (error.kind, error.status, len(server.requests)) == ("throttled", 429, 3)
    assert "slow down" in str(error)
    assert "after 3 attempts" in str(error)


@pytest.mark.parametrize("attempts", ["0", "-1", "two", "1.5", "101"])
def test_attempts_that_are_no_number_are_refused(
    monkeypatch: pytest.MonkeyPatch, attempts: str
) -> None:
    monkeypatch.setenv("SEATRIAL_MODEL_ATTEMPTS", attempts)
    with (
        ModelServer(answer=_PARIS) as server,
        pytest.raises(
            ModelConfigurationError, match=r"SEATRIAL_MODEL_ATTEMPTS=.* whole number from 1 to 100"
        ),
    ):
        _text(server)
    assert server.requests == []


def test_a_server_that_is_not_there_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEATRIAL_MODEL_ATTEMPTS", "2")
    with ModelServer(answer=_PARIS) as server:
        gone = choice_of(server)
    with pytest.raises(ModelProviderError, match=r"gpt-x failed: .*after 2 attempts") as caught:
        ask_text(system="", user="", model=gone)
    assert caught.value.kind == "connection"


def _waited_s(server: ModelServer) -> float:
    first, second = server.requests
    return second.started_s - first.started_s


@everywhere
@pytest.mark.parametrize("status", [429, 503])
def test_the_seconds_that_a_provider_asks_for_are_waited(protocol: str, status: int) -> None:
    with ModelServer([ErrorReply(status, retry_after=1.2), _PARIS]) as server:
        _text(server, protocol)
    assert _waited_s(server) >= 1.2


def test_a_moment_that_a_provider_names_is_waited_for() -> None:
    # A header has whole seconds: what is left of two is more than one.
    moment = datetime.now(UTC) + timedelta(seconds=2)
    with ModelServer([ErrorReply(503, retry_after=moment), _PARIS]) as server:
        _text(server)
    arrived = time.time() - (time.monotonic() - server.requests[1].started_s)
    assert arrived >= moment.replace(microsecond=0).timestamp()


def test_a_moment_that_is_over_is_not_waited_for() -> None:
    moment = datetime.now(UTC) - timedelta(hours=1)
    with ModelServer([ErrorReply(500, retry_after=moment), _PARIS]) as server:
        assert _text(server) == "Paris"


@pytest.mark.parametrize(
    ("retry_after", "told"),
    [(121.0, "121 s"), (datetime.now(UTC) + timedelta(days=1), r"86\d\d\d s")],
)
def test_a_wait_that_is_too_long_is_an_error_that_says_so(
    retry_after: float | datetime, told: str
) -> None:
    with (
        ModelServer([ErrorReply(429, retry_after=retry_after)]) as server,
        pytest.raises(ModelProviderError, match=f"asks for a wait of {told}") as caught,
    ):
        _text(server)
    assert (caught.value.kind, len(server.requests)) == ("throttled", 1)


_MISFORMED = {
    "prose": "I would say it passed.",
    "cut JSON": '{"passed": true, "reas',
    "two objects": '{"passed": true, "reasoning": "a"} {"passed": true, "reasoning": "b"}',
    "words around it": 'Sure! {"passed": true, "reasoning": "polite"}',
    "a fence": '```json\n{"passed": true, "reasoning": "polite"}\n```',
    "a wrong type": '{"passed": "true", "reasoning": "polite"}',
    "a number for a truth": '{"passed": 1, "reasoning": "polite"}',
    "an extra name": '{"passed": true, "reasoning": "polite", "score": 1}',
    "a missing name": '{"passed": true}',
    "a name twice": '{"passed": false, "passed": true, "reasoning": "polite"}',
    "NaN": '{"passed": NaN, "reasoning": "polite"}',
    "a list": '[{"passed": true, "reasoning": "polite"}]',
    "a bare value": "true",
    "null": "null",
    "depth": '{"passed": true, "reasoning": ' + "[" * 3_000 + "]" * 3_000 + "}",
}
_misformed = pytest.mark.parametrize("text", _MISFORMED.values(), ids=_MISFORMED.keys())


@_misformed
def test_an_answer_in_a_wrong_form_is_asked_for_again(text: str) -> None:
    with ModelServer([TextReply(text), StructuredReply(ANSWER)]) as server:
        answer = _structured(server)
    assert (answer.data, answer.attempts) == (ANSWER, 2)


@_misformed
def test_a_wrong_form_in_the_call_of_a_tool_is_asked_for_again(text: str) -> None:
    with ModelServer([ToolCall("answer", text), StructuredReply(ANSWER)]) as server:
        answer = _structured(server, "openai-responses")
    assert (answer.data, answer.attempts) == (ANSWER, 2)


@everywhere
def test_three_answers_in_a_wrong_form_are_enough(protocol: str) -> None:
    with ModelServer(answer=ToolCall("answer", {"passed": "yes"})) as server:
        error = _failure(server, protocol)
    assert (error.kind, error.status, len(server.requests)) == ("unusable", None, 3)
    assert "cannot be understood" in str(error)
    assert "after 3 attempts" in str(error)


def test_two_calls_are_no_answer() -> None:
    calls = ToolCallReply((ToolCall("answer", ANSWER), ToolCall("answer", ANSWER)))
    with ModelServer([calls, StructuredReply(ANSWER)]) as server:
        assert _structured(server).attempts == 2


@everywhere
def test_a_tool_that_was_not_offered_is_no_answer(protocol: str) -> None:
    with ModelServer([ToolCall("search", ANSWER), StructuredReply(ANSWER)]) as server:
        assert _structured(server, protocol).attempts == 2


@everywhere
def test_a_refusal_is_final_and_says_why(protocol: str) -> None:
    with ModelServer([RefusalReply("I will not judge this.")]) as server:
        error = _failure(server, protocol)
    assert (error.kind, len(server.requests)) == ("refused", 1)
    assert "refused to answer" in str(error)


@everywhere
def test_a_refusal_is_no_text(protocol: str) -> None:
    with (
        ModelServer([RefusalReply("I will not say that.")]) as server,
        pytest.raises(ModelProviderError, match="refused to answer") as caught,
    ):
        _text(server, protocol)
    assert caught.value.kind == "refused"


@everywhere
def test_nothing_is_no_answer(protocol: str) -> None:
    with (
        ModelServer(answer=TextReply("  \n")) as server,
        pytest.raises(ModelProviderError, match="answered with nothing") as caught,
    ):
        _text(server, protocol)
    assert (caught.value.kind, len(server.requests)) == ("empty", 3)


@everywhere
@pytest.mark.parametrize(
    "reply",
    [
        RawReply(b"<html>Welcome to the hotel's network</html>", content_type="text/html"),
        RawReply(b"<html>Welcome to the hotel's network</html>"),
        RawReply(b"{}"),
        RawReply(b"[]"),
        RawReply(b"null"),
        RawReply(b""),
        RawReply(b'{"choices": [], "content": [], "output": []}'),
        RawReply(b'{"choices": null, "content": null, "output": null}'),
        RawReply(b'{"choices": 1, "content": 1, "output": 1}'),
        RawReply(b"\xff\xfe\x00"),
    ],
    ids=lambda reply: f"{reply.content_type}-{reply.body[:20]!r}",
)
def test_what_is_no_answer_of_the_protocol_is_the_providers_failure(
    protocol: str, reply: Reply
) -> None:
    with ModelServer(answer=reply) as server:
        error = _failure(server, protocol)
    assert error.kind in ("empty", "unusable")
    assert len(server.requests) == 3


@everywhere
def test_a_slow_answer_is_a_timeout_and_not_asked_for_again(protocol: str) -> None:
    with (
        ModelServer(answer=TextReply("late", delay_s=60)) as server,
        pytest.raises(ModelProviderError, match=r"gave no answer in 0\.3 s") as caught,
    ):
        _text(server, protocol, timeout_s=0.3)
    assert (caught.value.kind, len(server.requests)) == ("timeout", 1)


def test_an_answer_that_trickles_is_a_timeout() -> None:
    with (
        ModelServer(answer=TextReply("late", pause_s=30)) as server,
        pytest.raises(ModelProviderError, match=r"gave no answer in 0\.3 s") as caught,
    ):
        _text(server, timeout_s=0.3)
    assert (caught.value.kind, len(server.requests)) == ("timeout", 1)


def _settings(server: ModelServer, protocol: str, settings: RequestSettings) -> int:
    choice = choice_of(server, protocol)
    return ask_text(system="", user="Capital?", model=choice, settings=settings).attempts


@everywhere
def test_a_model_that_minds_the_temperature_is_asked_without(protocol: str) -> None:
    minds = ErrorReply(400, "Unsupported parameter: 'temperature' is not supported")
    with ModelServer([minds, _PARIS]) as server:
        assert _settings(server, protocol, RequestSettings(temperature=0.0)) == 2
    first, second = server.requests
    assert first.body["temperature"] == 0.0
    assert "temperature" not in second.body


def test_a_model_that_minds_something_else_is_not_asked_again() -> None:
    with (
        ModelServer([ErrorReply(400, "no such model")]) as server,
        pytest.raises(ModelProviderError, match="no such model"),
    ):
        _settings(server, "openai-chat", RequestSettings(temperature=0.0))


def test_a_model_that_minds_a_temperature_that_was_not_set_is_not_asked_again() -> None:
    with (
        ModelServer([ErrorReply(400, "temperature")]) as server,
        pytest.raises(ModelProviderError, match="temperature"),
    ):
        _settings(server, "openai-chat", RequestSettings())


def test_settings_that_a_model_does_not_take_disturb_nobody() -> None:
    """pydantic-ai leaves them out with a warning, which is an error in these tests."""
    with ModelServer(answer=_PARIS) as server:
        model = ModelChoice("openai-responses", "o3", endpoint=server.openai_base_url)
        settings = RequestSettings(temperature=0.0)
        answer = ask_text(system="", user="Capital?", model=model, settings=settings)
    assert answer.attempts == 1
    assert "temperature" not in server.requests[0].body
