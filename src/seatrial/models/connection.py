"""Connections to providers: pydantic-ai's model of each choice, made once and kept."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from seatrial.errors import ModelConfigurationError
from seatrial.models.background import close_at_end
from seatrial.models.choice import ModelChoice
from seatrial.models.secrets import keep_out

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic_ai.models import Model

__all__ = ["LARGEST_BODY", "BodyTooLargeError", "address_of", "connect"]

LARGEST_BODY = 10_000_000
"""Bytes of a provider's answer that are read."""

_CONNECT_S = 10.0
_MOST_CONNECTIONS = 32
_ENDINGS = (
    *("_KEY", "_TOKEN", "_URL", "_ENDPOINT", "_VERSION", "_REGION", "_SECRET", "_PROJECT"),
    "_HEADERS",
)
_ADDRESSES = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "azure": "AZURE_OPENAI_ENDPOINT",
    "openai": "OPENAI_BASE_URL",
    "openai-chat": "OPENAI_BASE_URL",
    "openai-responses": "OPENAI_BASE_URL",
}


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
    # A fork must not talk on its parent's connections.
    known = (choice.provider, choice.model, choice.endpoint, choice.api_key, choice.api_version)
    place = (os.getpid(), known, surroundings)
    kept = _models.get(place)
    if kept is None:
        kept = _models[place] = _connected(choice)
        while len(_models) > _MOST_CONNECTIONS:
            _models.popitem(last=False)
    else:
        _models.move_to_end(place)
    keep_out(key=choice.api_key, url=_server(choice))
    return kept


def address_of(choice: ModelChoice) -> str:
    """What a choice's rate limits belong to: the server and the model."""
    return f"{_server(choice) or choice.provider} {choice.model}"


def _server(choice: ModelChoice) -> str | None:
    variable = _ADDRESSES.get(choice.provider)
    return choice.endpoint or (os.environ.get(variable) if variable else None) or None


def _connected(choice: ModelChoice) -> Model:
    if choice.provider == "anthropic":
        return _anthropic(choice)
    if choice.provider in _ADDRESSES:
        return _openai(choice)
    return _inferred(choice)


def _openai(choice: ModelChoice) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = _azure_client(choice) if choice.provider == "azure" else _openai_client(choice)
    close_at_end(client.close)
    provider = OpenAIProvider(openai_client=client)
    # Most servers that stand in for OpenAI's know only its older interface.
    by_default = choice.provider == "openai" and _server(choice) is None
    if by_default or choice.provider == "openai-responses":
        return OpenAIResponsesModel(choice.model, provider=provider)
    return OpenAIChatModel(choice.model, provider=provider)


def _openai_client(choice: ModelChoice) -> AsyncOpenAI:
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    url, key = _server(choice), _key(choice, "OPENAI_API_KEY")
    if url is None and key is None:
        raise ModelConfigurationError(f"{choice.name} needs OPENAI_API_KEY, which is not set")
    return AsyncOpenAI(
        base_url=url,
        api_key=key or "none",  # a server of one's own may need none
        max_retries=0,  # retries are ours: they must know of the endpoint's budget
        timeout=Timeout(None, connect=_CONNECT_S),  # so is the time limit of a whole attempt
        http_client=DefaultAsyncHttpxClient(**_http_options()),
    )


def _azure_client(choice: ModelChoice) -> AsyncOpenAI:
    from openai import AsyncAzureOpenAI, DefaultAsyncHttpxClient, Timeout

    url, key = _server(choice), _key(choice, "AZURE_OPENAI_API_KEY")
    version = choice.api_version or os.environ.get("OPENAI_API_VERSION") or None
    if url is None or version is None or (choice.endpoint is None and key is None):
        raise ModelConfigurationError(
            f"{choice.name} needs AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY and "
            "OPENAI_API_VERSION, which are not all set"
        )
    return AsyncAzureOpenAI(
        azure_endpoint=url,
        api_version=version,
        api_key=key or "none",
        max_retries=0,
        timeout=Timeout(None, connect=_CONNECT_S),
        http_client=DefaultAsyncHttpxClient(**_http_options()),
    )


def _anthropic(choice: ModelChoice) -> Model:
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient, Timeout
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    url, key = _server(choice), _key(choice, "ANTHROPIC_API_KEY")
    if url is None and key is None:
        raise ModelConfigurationError(f"{choice.name} needs ANTHROPIC_API_KEY, which is not set")
    client = AsyncAnthropic(
        base_url=url,
        api_key=key or "none",
        max_retries=0,
        timeout=Timeout(None, connect=_CONNECT_S),
        default_headers=_no_headers_of_environment() if choice.endpoint else None,
        http_client=DefaultAsyncHttpxClient(**_http_options()),
    )
    close_at_end(client.close)
    return AnthropicModel(choice.model, provider=AnthropicProvider(anthropic_client=client))


def _key(choice: ModelChoice, variable: str) -> str | None:
    """The key to send. An address that was given has its own or none: `choose_endpoint` decides."""
    if choice.endpoint is not None:
        return choice.api_key
    return choice.api_key or os.environ.get(variable) or None


def _no_headers_of_environment() -> dict[str, Any]:
    """Keeps the headers, keys perhaps, that the SDK would send from ANTHROPIC_CUSTOM_HEADERS to anyone."""
    from anthropic import Omit

    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    return {
        name.strip(): Omit() for name, colon, _ in (line.partition(":") for line in lines) if colon
    }


def _http_options() -> dict[str, Any]:
    # Where a redirect leads, a key does not go; HTTP clients hold back only some headers.
    return {"event_hooks": {"response": [_bounded]}, "follow_redirects": False}


def _inferred(choice: ModelChoice) -> Model:
    from pydantic_ai.models import infer_model

    model = infer_model(choice.name)
    client = getattr(model, "client", None)
    if client is not None and hasattr(client, "max_retries"):
        client.max_retries = 0
        close_at_end(client.close)
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
