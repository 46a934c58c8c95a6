"""Questions to a provider: the real SDK, over real HTTP, to a server of our own."""

from __future__ import annotations

import sys
import threading

import pytest

from seatrial.errors import (
    MissingExtraError,
    ModelConfigurationError,
    ModelProviderError,
)
from seatrial.models import ask_structured, ask_text

from .conftest import Provider

pytest.importorskip("pydantic_ai", reason="the extra `llm` is not installed")

_SCHEMA = {
    "type": "object",
    "properties": {"passed": {"type": "boolean"}, "reasoning": {"type": "string"}},
    "required": ["passed", "reasoning"],
    "additionalProperties": False,
}
_ANSWER = '{"passed": true, "reasoning": "polite"}'


def test_a_structured_answer_arrives_with_what_it_took(provider: Provider) -> None:
    provider.content = _ANSWER
    answer = ask_structured(system="Judge.", user="Hello!", schema=_SCHEMA, model="openai:gpt-x")
    assert answer.data == {"passed": True, "reasoning": "polite"}
    assert (answer.provider, answer.model) == ("openai", "gpt-x")
    assert (answer.input_tokens, answer.output_tokens) == (12, 3)
    assert answer.cost_usd is None  # nobody knows what gpt-x costs
    (request,) = provider.requests
    assert [message["content"] for message in request["messages"]] == ["Judge.", "Hello!"]
    assert provider.keys == ["Bearer sk-very-secret-1234567890"]


def test_the_cost_of_a_known_model_is_known(provider: Provider) -> None:
    answer = ask_text(system="Be brief.", user="Capital of France?", model="openai:gpt-4o-mini")
    assert answer.text == "Paris"
    assert answer.cost_usd == pytest.approx((12 * 0.15 + 3 * 0.60) / 1_000_000)


def test_a_server_named_by_its_address_needs_no_key(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ask_text(system="", user="Capital of France?").text == "Paris"


@pytest.mark.asyncio
async def test_questions_can_be_asked_inside_a_running_event_loop(provider: Provider) -> None:
    for _ in range(2):
        assert ask_text(system="", user="Capital of France?").text == "Paris"


def test_an_answer_without_a_required_property_is_the_providers_failure(
    provider: Provider,
) -> None:
    provider.content = '{"passed": true}'
    with pytest.raises(ModelProviderError, match="openai:gpt-x left out reasoning"):
        ask_structured(system="", user="", schema=_SCHEMA, model="openai:gpt-x")


def test_an_answer_that_is_no_json_is_the_providers_failure(provider: Provider) -> None:
    provider.content = "I would say it passed."
    with pytest.raises(ModelProviderError, match="openai:gpt-x failed"):
        ask_structured(system="", user="", schema=_SCHEMA, model="openai:gpt-x")


def test_a_late_answer_is_an_error_that_names_the_time(provider: Provider) -> None:
    provider.hold.clear()
    with pytest.raises(ModelProviderError, match=r"openai:gpt-x gave no answer in 0.2 s"):
        ask_text(system="", user="", model="openai:gpt-x", timeout_s=0.2)


def test_a_refusal_names_the_reason_but_never_the_key(provider: Provider) -> None:
    provider.status = 401
    provider.content = "Incorrect API key provided: sk-very-secret-1234567890"
    with pytest.raises(ModelProviderError) as caught:
        ask_text(system="", user="", model="openai:gpt-x")
    assert "Incorrect API key provided: [OPENAI_API_KEY]" in str(caught.value)
    # A chained error would print the SDK's own words in a traceback.
    assert caught.value.__suppress_context__


def test_a_provider_that_breaks_is_named_with_what_it_said(provider: Provider) -> None:
    provider.status = 500
    provider.content = "out of memory for sk-very-secret-1234567890"
    with pytest.raises(ModelProviderError, match=r"openai:gpt-x failed: .*500") as caught:
        ask_text(system="", user="", model="openai:gpt-x")
    assert "out of memory for [OPENAI_API_KEY]" in str(caught.value)


def test_a_server_that_is_gone_is_the_providers_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(ModelProviderError, match="openai:gpt-x failed"):
        ask_text(system="", user="", model="openai:gpt-x", timeout_s=20)


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
        ask_text(system="", user="", model="openai:gpt-x", timeout_s=timeout_s)


def test_without_the_extra_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'seatrial\[llm\]'"):
        ask_text(system="", user="", model="openai:gpt-x")


def test_no_thread_is_left_behind(provider: Provider) -> None:
    ask_text(system="", user="Capital of France?")
    assert "seatrial-model" not in [thread.name for thread in threading.enumerate()]
