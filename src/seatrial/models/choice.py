"""Which model to ask: arguments first, then the environment, then nothing is guessed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from seatrial.errors import ModelConfigurationError
from seatrial.models.secrets import without_password
from seatrial.models.settings import RequestSettings

__all__ = ["LOCAL", "ModelChoice", "choose_model"]

LOCAL = "local"
"""The embedded model: its name as a provider, and as a model."""

_DEFAULT_MODELS = {
    "anthropic": "claude-sonnet-4-6",
    "openai": "gpt-5.4-mini",
    LOCAL: LOCAL,
}


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model and who serves it, as in "openai" and "gpt-5.4-mini".

    Attributes:
        provider: As pydantic-ai names it, "openai" also for whoever speaks OpenAI's interface; or
            "local".
        model: The provider's name for it.
        endpoint: URL of the server; None for the one that the provider's variables name, or its own.
        api_key: None for the one in the provider's variable.
        api_version: Of an Azure deployment.
        settings: How it is to answer.
        rate_per_s: Requests that may start per second; None for any.
    """

    provider: str
    model: str
    endpoint: str | None = None
    api_key: str | None = None
    api_version: str | None = None
    settings: RequestSettings = field(default_factory=RequestSettings)
    rate_per_s: float | None = None

    def __repr__(self) -> str:
        where = f", endpoint={without_password(self.endpoint)!r}" if self.endpoint else ""
        return f"ModelChoice({self.name!r}{where}, {self.settings!r})"

    @property
    def name(self) -> str:
        """Provider and model in one word, as errors and reports show them."""
        return f"{self.provider}:{self.model}"


def choose_model(
    *, purpose: str, provider: str | None = None, model: str | ModelChoice | None = None
) -> ModelChoice:
    """The model for `purpose`, such as "judge".

    Looked at, the first that says anything wins: the arguments; `KENSA_<PURPOSE>_PROVIDER` and
    `_MODEL`; `KENSA_LLM_PROVIDER` and `_MODEL`; which of `OPENAI_BASE_URL`, `OPENAI_API_KEY` and
    `ANTHROPIC_API_KEY` is set. A model may name its provider: "openai:gpt-5.4-mini".

    Raises:
        ModelConfigurationError: If nothing says which, or provider and model contradict each other.
    """
    if isinstance(model, ModelChoice):
        return model
    if provider or model:
        return _complete(provider or None, model or None, "the arguments")
    prefixes = (f"KENSA_{purpose.upper()}", "KENSA_LLM")
    for prefix in prefixes:
        provider = os.environ.get(f"{prefix}_PROVIDER", "").strip()
        model = os.environ.get(f"{prefix}_MODEL", "").strip()
        if provider or model:
            return _complete(provider or None, model or None, f"{prefix}_PROVIDER and _MODEL")
    if os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_KEY"):
        return ModelChoice("openai", _DEFAULT_MODELS["openai"])
    if os.environ.get("ANTHROPIC_API_KEY"):
        return ModelChoice("anthropic", _DEFAULT_MODELS["anthropic"])
    looked_at = [f"{prefix}_{part}" for prefix in prefixes for part in ("PROVIDER", "MODEL")]
    raise ModelConfigurationError(
        f"nothing says which model to ask as the {purpose}: none of {', '.join(looked_at)}, "
        "OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_API_KEY is set. "
        f"{looked_at[1]}=local asks the embedded model, =openai:NAME or =anthropic:NAME a provider"
    )


def _complete(provider: str | None, model: str | None, where: str) -> ModelChoice:
    provider = provider.lower() if provider is not None else None
    if model is None:
        return _with_default_model(provider or "", where)
    prefix, colon, rest = model.partition(":")
    if provider is None:
        if colon:
            return _complete(prefix, rest, where)
        if model == LOCAL:
            return ModelChoice(LOCAL, LOCAL)
        return ModelChoice("anthropic" if model.startswith("claude") else "openai", model)
    if colon and prefix.lower() == provider:
        model, named = rest, provider
    else:
        # A colon may also belong to the model's name, as in ollama's "llama3:8b".
        named = prefix if prefix in _DEFAULT_MODELS else provider
    if not model or named != provider or (provider == LOCAL) != (model == LOCAL):
        raise ModelConfigurationError(
            f"{where} contradict each other: provider {provider!r}, model {model!r}"
        )
    return ModelChoice(provider, model)


def _with_default_model(provider: str, where: str) -> ModelChoice:
    if provider not in _DEFAULT_MODELS:
        raise ModelConfigurationError(
            f"{where} name the provider {provider!r} but no model, and only "
            f"{', '.join(_DEFAULT_MODELS)} have a default one"
        )
    return ModelChoice(provider, _DEFAULT_MODELS[provider])
