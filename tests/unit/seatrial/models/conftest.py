"""Choices that lead to a model server on loopback, and an environment that names no provider."""

from __future__ import annotations

import pytest

from seatrial.models import ModelChoice
from seatrial.snapshot import JsonObject
from seatrial.testing import ModelServer

PROTOCOLS = ["openai-chat", "openai-responses", "anthropic"]
everywhere = pytest.mark.parametrize("protocol", PROTOCOLS)

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"passed": {"type": "boolean"}, "reasoning": {"type": "string"}},
    "required": ["passed", "reasoning"],
    "additionalProperties": False,
}
ANSWER: JsonObject = {"passed": True, "reasoning": "polite"}

_DECIDING = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "AZURE_OPENAI_AD_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_ENDPOINT",
    "OLLAMA_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_API_VERSION",
    "OPENAI_BASE_URL",
)


@pytest.fixture(autouse=True)
def _no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here reaches a provider that the machine's user configured."""
    for name in _DECIDING:
        monkeypatch.delenv(name, raising=False)


def choice_of(
    server: ModelServer, protocol: str = "openai-chat", *, key: str | None = None
) -> ModelChoice:
    """A model at the server that is asked in `protocol`."""
    if protocol == "anthropic":
        return ModelChoice(protocol, "claude-x", endpoint=server.anthropic_base_url, api_key=key)
    return ModelChoice(protocol, "gpt-x", endpoint=server.openai_base_url, api_key=key)
