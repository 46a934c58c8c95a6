"""Connections to providers: pydantic-ai's model of each choice, made once and kept."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from seatrial.errors import ModelConfigurationError
from seatrial.models.background import close_at_end
from seatrial.models.choice import ModelChoice
from seatrial.models.secrets import keep_keys_out_of_logs

if TYPE_CHECKING:
    from pydantic_ai.models import Model

__all__ = ["LARGEST_BODY", "BodyTooLargeError", "address_of", "connect"]

LARGEST_BODY = 10_000_000
"""Bytes of a provider's answer that are read."""

_MOST_CONNECTIONS = 32
_ENDINGS = ("_KEY", "_TOKEN", "_URL", "_ENDPOINT", "_VERSION", "_REGION", "_SECRET", "_PROJECT")


class BodyTooLargeError(Exception):
    """A provider's answer has more than `LARGEST_BODY` bytes."""


_models: OrderedDict[object, Model] = OrderedDict()


def connect(choice: ModelChoice) -> Model:
    """The model to ask, on the background loop; as the environment is now.

    Raises:
        ModelConfigurationError: If the provider's key is missing.
        Exception: Whatever pydantic-ai or the provider's SDK raises about what is missing.
    """
    surroundings = frozenset(
        (name, value) for name, value in os.environ.items() if name.endswith(_ENDINGS)
    )
    known = (choice.provider, choice.model, choice.endpoint, choice.api_key, choice.api_version)
    kept = _models.get((known, surroundings))
    if kept is None:
        keep_keys_out_of_logs(choice.api_key)
        kept = _models[known, surroundings] = _connected(choice)
        while len(_models) > _MOST_CONNECTIONS:
            _models.popitem(last=False)
    else:
        _models.move_to_end((known, surroundings))
    return kept


def address_of(choice: ModelChoice) -> str:
    """What a choice's rate limits belong to: the server and the model."""
    variable = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}.get(choice.provider)
    server = choice.endpoint or (os.environ.get(variable) if variable else None) or choice.provider
    return f"{server} {choice.model}"


def _connected(choice: ModelChoice) -> Model:
    if choice.provider == "anthropic":
        return _anthropic(choice)
    if choice.provider in ("azure", "openai", "openai-chat", "openai-responses"):
        if choice.provider == "azure" and choice.endpoint is None:
            return _inferred(choice)
        return _openai(choice)
    return _inferred(choice)


def _openai(choice: ModelChoice) -> Model:
    from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpxClient
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    http = DefaultAsyncHttpxClient(event_hooks={"response": [_bounded]})
    client: AsyncOpenAI
    if choice.provider == "azure":
        client = AsyncAzureOpenAI(
            azure_endpoint=choice.endpoint or "",
            api_version=choice.api_version,
            api_key=choice.api_key or "none",
            max_retries=0,  # retries are ours: they must know of the endpoint's budget
            http_client=http,
        )
    else:
        url = choice.endpoint or os.environ.get("OPENAI_BASE_URL")
        key = choice.api_key
        if choice.endpoint is None:
            key = key or os.environ.get("OPENAI_API_KEY")
        if url is None and key is None:
            raise ModelConfigurationError(f"{choice.name} needs OPENAI_API_KEY, which is not set")
        # A server of one's own may need none.
        client = AsyncOpenAI(base_url=url, api_key=key or "none", max_retries=0, http_client=http)
    close_at_end(client.close)
    provider = OpenAIProvider(openai_client=client)
    # Most servers that stand in for OpenAI's know only its older interface.
    by_default = choice.provider == "openai" and not (
        choice.endpoint or os.environ.get("OPENAI_BASE_URL")
    )
    if by_default or choice.provider == "openai-responses":
        return OpenAIResponsesModel(choice.model, provider=provider)
    return OpenAIChatModel(choice.model, provider=provider)


def _anthropic(choice: ModelChoice) -> Model:
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = choice.api_key
    if choice.endpoint is None:
        key = key or os.environ.get("ANTHROPIC_API_KEY")
        if key is None and not os.environ.get("ANTHROPIC_BASE_URL"):
            raise ModelConfigurationError(
                f"{choice.name} needs ANTHROPIC_API_KEY, which is not set"
            )
    client = AsyncAnthropic(
        base_url=choice.endpoint,
        api_key=key or "none",
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(event_hooks={"response": [_bounded]}),
    )
    close_at_end(client.close)
    return AnthropicModel(choice.model, provider=AnthropicProvider(anthropic_client=client))


def _inferred(choice: ModelChoice) -> Model:
    from pydantic_ai.models import infer_model

    model = infer_model(choice.name)
    client = getattr(model, "client", None)
    if client is not None and hasattr(client, "max_retries"):
        client.max_retries = 0
    return model


async def _bounded(response: Any) -> None:
    """Have the body of a response read no further than `LARGEST_BODY`."""
    read = response.aiter_bytes

    async def bounded(chunk_size: int | None = None) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in read(chunk_size):
            size += len(chunk)
            if size > LARGEST_BODY:
                raise BodyTooLargeError(f"more than {LARGEST_BODY:,} bytes")
            yield chunk

    response.aiter_bytes = bounded
