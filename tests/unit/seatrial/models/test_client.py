"""Questions to a provider: the real SDKs, over real HTTP, to a server of our own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import traceback

import pytest

from seatrial.errors import MissingExtraError, ModelConfigurationError, ModelProviderError
from seatrial.models import (
    Message,
    ModelChoice,
    RequestSettings,
    ask_structured,
    ask_structured_async,
    ask_text,
    ask_text_async,
    choose_endpoint,
)
from seatrial.scope import TrialScope, bind, unbind
from seatrial.testing import ErrorReply, ModelServer, StructuredReply, TextReply

from .conftest import ANSWER, SCHEMA, choice_of, everywhere

pytest.importorskip("pydantic_ai", reason="the extra `llm` is not installed")

KEY = "sk-very-secret-1234567890"


@everywhere
def test_a_structured_answer_arrives_with_what_it_took(protocol: str) -> None:
    with ModelServer(answer=StructuredReply(ANSWER)) as server:
        answer = ask_structured(
            system="Judge.", user="Hello!", schema=SCHEMA, model=choice_of(server, protocol)
        )
        (request,) = server.requests
    assert answer.data == ANSWER
    assert (answer.provider, answer.input_tokens, answer.output_tokens) == (protocol, 12, 3)
    assert answer.cost_usd is None  # nobody knows what these models cost
    assert (request.system, request.messages[-1].text) == ("Judge.", "Hello!")


@everywhere
def test_a_conversation_is_continued(protocol: str) -> None:
    said = [Message("user", "Hi."), Message("assistant", "Hello."), Message("user", "Bye.")]
    with ModelServer(answer="So long.") as server:
        answer = ask_text(
            system="S", user=said[-1].text, history=said[:-1], model=choice_of(server, protocol)
        )
        (request,) = server.requests
    assert answer.text == "So long."
    assert [(m.role, m.text) for m in request.messages] == [(m.role, m.text) for m in said]


def test_the_cost_of_a_known_model_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(answer="Paris") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        answer = ask_text(system="", user="Capital of France?", model="openai:gpt-4o-mini")
    assert answer.cost_usd == pytest.approx((12 * 0.15 + 3 * 0.60) / 1_000_000)


def test_a_server_named_by_its_address_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(answer="Paris") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        assert ask_text(system="", user="Capital of France?").text == "Paris"


def test_an_azure_deployment_is_asked_at_its_own_path() -> None:
    with ModelServer(answer="Paris") as server:
        choice = choose_endpoint(
            model="gpt-x",
            endpoint=f"{server.url}/openai/deployments/mine?api-version=2024-10-21",
            deployment="mine",
            api_key=KEY,
        )
        assert ask_text(system="", user="?", model=choice).text == "Paris"
        (request,) = server.requests
    assert request.path == "/openai/deployments/mine/chat/completions?api-version=2024-10-21"
    assert request.headers["api-key"] == KEY


def test_a_key_is_not_sent_where_nobody_meant_it_to_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ModelServer(answer="Paris") as server:
        choice = choose_endpoint(model="gpt-x", endpoint=server.openai_base_url)
        ask_text(system="", user="?", model=choice)
        (request,) = server.requests
    assert KEY not in str(request.headers)


def test_settings_reach_the_provider() -> None:
    settings = RequestSettings(temperature=0.5, max_tokens=7, seed=3)
    with ModelServer(answer="Paris") as server:
        ask_text(system="", user="?", model=choice_of(server), settings=settings)
        (request,) = server.requests
    assert (request.body["temperature"], request.body["seed"]) == (0.5, 3)


@pytest.mark.asyncio
async def test_many_questions_are_asked_at_once_from_one_loop() -> None:
    with ModelServer(answer=TextReply("Paris", delay_s=0.05)) as server:
        asked = (ask_text_async(system="", user="?", model=choice_of(server)) for _ in range(30))
        answers = await asyncio.gather(*asked)
        assert server.most_in_flight > 1
    assert [answer.text for answer in answers] == ["Paris"] * 30


@pytest.mark.asyncio
async def test_questions_can_be_asked_by_sync_code_inside_a_running_loop() -> None:
    with ModelServer(answer="Paris") as server:
        for _ in range(2):
            assert ask_text(system="", user="?", model=choice_of(server)).text == "Paris"


def test_loops_that_come_and_go_share_the_client() -> None:
    with ModelServer(answer=StructuredReply(ANSWER)) as server:
        for _ in range(3):
            work = ask_structured_async(system="", user="?", schema=SCHEMA, model=choice_of(server))
            assert asyncio.run(work).data == ANSWER


def test_a_late_answer_is_an_error_that_names_the_time_and_is_not_asked_again() -> None:
    with ModelServer(answer=TextReply("late", delay_s=30)) as server:
        with pytest.raises(ModelProviderError, match=r"gave no answer in 0.2 s") as caught:
            ask_text(system="", user="", model=choice_of(server), timeout_s=0.2)
        assert len(server.requests) == 1
    assert caught.value.kind == "timeout"


@everywhere
def test_a_key_that_a_provider_repeats_is_never_shown(protocol: str) -> None:
    refusal = ErrorReply(status=401, message=f"Incorrect API key provided: {KEY}")
    with ModelServer([refusal, f"your key is {KEY}"]) as server:
        choice = choice_of(server, protocol, key=KEY)
        with pytest.raises(ModelProviderError) as caught:
            ask_text(system="S", user="?", model=choice)
        answer = ask_text(system="S", user="?", model=choice)
    told = "".join(traceback.format_exception(caught.value))
    assert "Incorrect API key provided" in told
    assert KEY not in told + repr(caught.value) + answer.text + repr(answer) + repr(choice)


def test_what_a_question_took_is_noted_with_its_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEATRIAL_MODEL_ATTEMPTS", "1")
    scope = TrialScope(key=None, nodeid="t")
    token = bind(scope)
    try:
        with ModelServer(["Paris", ErrorReply(status=500)]) as server:
            ask_text(system="", user="?", model=choice_of(server), purpose="driver")
            with pytest.raises(ModelProviderError):
                ask_text(system="", user="?", model=choice_of(server), purpose="driver")
    finally:
        unbind(token)
    good, bad = scope.model_calls
    assert (good["purpose"], good["input_tokens"], good["cost_usd"]) == ("driver", 12, None)
    assert (good["attempts"], good["failed"], bad["failed"]) == (1, None, "status")


def test_the_same_question_is_asked_once_if_a_stored_answer_will_do() -> None:
    with ModelServer(answer=StructuredReply(ANSWER)) as server:
        for further in ({}, {}, {"sample": 2}, {"settings": RequestSettings(seed=1)}):
            answer = ask_structured(
                system="S",
                user="U",
                schema=SCHEMA,
                model=choice_of(server),
                stored=True,
                **further,  # type: ignore[arg-type]
            )
            assert answer.data == ANSWER
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("model", "reason"),
    [("openai:gpt-x", "OPENAI_API_KEY"), ("nobody:x", "Unknown model: nobody:x")],
)
def test_a_missing_key_or_an_unknown_provider_is_a_configuration_error(
    model: str, reason: str
) -> None:
    with pytest.raises(ModelConfigurationError, match=reason):
        ask_text(system="", user="", model=model)


@pytest.mark.parametrize("timeout_s", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_limit_that_is_none_is_refused(timeout_s: float) -> None:
    with pytest.raises(ModelConfigurationError, match=r"timeout_s=.*expected seconds, above 0"):
        ask_text(system="", user="", model=ModelChoice("openai", "x"), timeout_s=timeout_s)


def test_without_the_extra_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'seatrial\[llm\]'"):
        ask_text(system="", user="", model=ModelChoice("openai", "x", api_key="none-12345"))


def test_a_process_that_asked_ends_cleanly() -> None:
    with ModelServer(answer="Paris") as server:
        program = f"""
            from seatrial.models import ModelChoice, ask_text
            choice = ModelChoice("openai", "x", endpoint={server.openai_base_url!r})
            print(ask_text(system="", user="?", model=choice).text)
        """
        ended = subprocess.run(
            [sys.executable, "-W", "error::ResourceWarning", "-c", textwrap.dedent(program)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "Paris\n", "")
