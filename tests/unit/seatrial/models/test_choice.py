from __future__ import annotations

import pytest

from seatrial.errors import ModelConfigurationError
from seatrial.models.choice import ModelChoice, choose_model


def _choose(provider: str | None = None, model: str | None = None) -> ModelChoice:
    return choose_model(purpose="judge", provider=provider, model=model)


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("local", None, ("local", "local")),
        (None, "local", ("local", "local")),
        (None, "local:local", ("local", "local")),
        ("openai", None, ("openai", "gpt-5.4-mini")),
        ("anthropic", None, ("anthropic", "claude-sonnet-4-6")),
        (None, "anthropic:claude-x", ("anthropic", "claude-x")),
        ("openai", "openai:gpt-x", ("openai", "gpt-x")),
        (None, "claude-x", ("anthropic", "claude-x")),
        (None, "gpt-x", ("openai", "gpt-x")),
        ("ollama", "llama3:8b", ("ollama", "llama3:8b")),
    ],
)
def test_arguments_name_a_model(
    provider: str | None, model: str | None, expected: tuple[str, str]
) -> None:
    assert _choose(provider, model) == ModelChoice(*expected)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "anthropic:claude-x"),
        ("openai", "local"),
        ("local", "gpt-x"),
        (None, "local:gpt-x"),
    ],
)
def test_a_provider_that_contradicts_the_model_is_an_error(
    provider: str | None, model: str
) -> None:
    with pytest.raises(ModelConfigurationError, match="the arguments contradict each other"):
        _choose(provider, model)


def test_a_provider_without_a_default_model_needs_one() -> None:
    with pytest.raises(ModelConfigurationError, match="provider 'mistral' but no model"):
        _choose("mistral")


def test_the_purpose_comes_before_what_is_set_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KENSA_LLM_MODEL", "openai:gpt-x")
    assert _choose() == ModelChoice("openai", "gpt-x")
    monkeypatch.setenv("KENSA_JUDGE_MODEL", "local")
    assert _choose() == ModelChoice("local", "local")
    assert choose_model(purpose="simulator", provider=None, model=None).model == "gpt-x"


def test_arguments_come_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KENSA_JUDGE_MODEL", "local")
    assert _choose("openai") == ModelChoice("openai", "gpt-5.4-mini")


@pytest.mark.parametrize(
    ("variable", "provider"),
    [
        ("OPENAI_API_KEY", "openai"),
        ("OPENAI_BASE_URL", "openai"),
        ("ANTHROPIC_API_KEY", "anthropic"),
    ],
)
def test_a_key_alone_chooses_its_provider(
    monkeypatch: pytest.MonkeyPatch, variable: str, provider: str
) -> None:
    monkeypatch.setenv(variable, "set")
    assert _choose().provider == provider


def test_with_nothing_set_the_error_says_what_was_looked_at() -> None:
    with pytest.raises(ModelConfigurationError) as caught:
        _choose()
    for name in (
        "KENSA_JUDGE_PROVIDER",
        "KENSA_JUDGE_MODEL=local",
        "KENSA_LLM_MODEL",
        "OPENAI_API_KEY",
    ):
        assert name in str(caught.value)
