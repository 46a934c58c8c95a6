"""Models at an address of the user's own: OpenAI-compatible servers, Azure deployments, Anthropic."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qs, urlsplit

from seatrial.errors import ModelConfigurationError
from seatrial.models.choice import LOCAL, ModelChoice
from seatrial.models.settings import RequestSettings

__all__ = ["choose_endpoint"]

_AZURE_API_VERSION = "2024-10-21"
_PER_MINUTE = "max_requests_per_minute"


def choose_endpoint(
    *,
    model: str,
    endpoint: str,
    api_key: str | None = None,
    deployment: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> ModelChoice:
    """The model behind an address.

    Azure is known by its host names, a path with `/openai/deployments`, or an `api-version`;
    Anthropic by its host name or a model named "anthropic:..."; all else speaks OpenAI's chat
    completions. "local" as model or endpoint is the embedded model.

    Args:
        model: The model's name.
        endpoint: URL of the server, with its path, such as "http://127.0.0.1:11434/v1".
        api_key: Without one, the provider's variable is used for the provider's own address, for
            the one that `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` or `AZURE_OPENAI_ENDPOINT` names,
            and nowhere else: a key is not sent where the user did not mean it to go.
        deployment: The provider's name for it, where that differs.
        metadata: Settings as `RequestSettings` has them, `max_requests_per_minute`, and
            `api_version` for Azure.

    Raises:
        ModelConfigurationError: If model or endpoint is empty, the endpoint is no URL, or a
            setting is unknown.
    """
    where = f"the configuration of model {model!r}"
    values = dict(metadata or {})
    rate_per_s = _rate(values.pop(_PER_MINUTE, None), where)
    api_version = values.pop("api_version", None)
    settings = RequestSettings.of(values, where)
    if not model or not endpoint:
        missing = "model" if not model else "endpoint"
        raise ModelConfigurationError(f"{where}: {missing} must be text that is not empty")
    if LOCAL in (model, endpoint):
        return ModelChoice(LOCAL, LOCAL, settings=settings)
    url = _split(endpoint, where)
    provider, name = _provider(url, model)
    query = parse_qs(url.query, keep_blank_values=True)
    foreign = query.keys() - ({"api-version"} if provider == "azure" else set())
    if foreign:
        raise ModelConfigurationError(
            f"{where}: its endpoint has a query ({', '.join(sorted(foreign))}), which no request would have"
        )
    address = url._replace(query="", fragment="").geturl().rstrip("/")
    version = None
    if provider == "azure":
        version = str(api_version or query.get("api-version", [_AZURE_API_VERSION])[0])
        address = address.partition("/openai/deployments")[0].removesuffix("/openai")
    return ModelChoice(
        provider,
        deployment or name,
        endpoint=address,
        api_key=api_key or _key_for(provider, url),
        api_version=version,
        settings=settings,
        rate_per_s=rate_per_s,
    )


def _split(endpoint: str, where: str) -> SplitResult:
    try:
        url = urlsplit(endpoint)
        host = url.hostname
    except ValueError:
        host = None
    if not host or url.scheme not in ("http", "https"):
        raise ModelConfigurationError(
            f"{where}: its endpoint is no URL that begins with http:// or https:// and names a host"
        )
    return url


def _provider(url: SplitResult, model: str) -> tuple[str, str]:
    host = url.hostname or ""
    path = url.path.rstrip("/")
    prefix, colon, rest = model.partition(":")
    if colon and prefix in ("openai", "anthropic", "azure"):
        return prefix, rest
    # Azure's newer interface, at /openai/v1, is OpenAI's own.
    of_azure = host.endswith((".openai.azure.com", ".cognitiveservices.azure.com"))
    if not path.endswith("/v1") and (
        of_azure or "/openai/deployments" in path or "api-version" in parse_qs(url.query)
    ):
        return "azure", model
    if host == "anthropic.com" or host.endswith(".anthropic.com"):
        return "anthropic", model
    return "openai", model


_HOSTS = {"openai": "api.openai.com", "anthropic": "api.anthropic.com"}
_VARIABLES = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "azure": ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"),
}


def _key_for(provider: str, url: SplitResult) -> str | None:
    address, key = _VARIABLES[provider]
    known = urlsplit(os.environ.get(address, ""))
    is_known = (known.scheme, known.netloc) == (url.scheme, url.netloc)
    is_own = url.scheme == "https" and url.hostname == _HOSTS.get(provider)
    return os.environ.get(key) if is_known or is_own else None


def _rate(per_minute: object, where: str) -> float | None:
    if per_minute is None:
        return None
    is_number = isinstance(per_minute, (int, float)) and not isinstance(per_minute, bool)
    if not is_number or not 0 < float(str(per_minute)) <= 1_000_000:
        raise ModelConfigurationError(
            f"{where}: {_PER_MINUTE}={per_minute!r}: expected a number above 0, to 1,000,000"
        )
    return float(str(per_minute)) / 60
