"""An agent behind HTTP."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from rampart.adapters.answers import (
    LARGEST_ANSWER,
    checked_observability,
    prompt_of,
    side_effect_of,
    tool_call_of,
)
from rampart.core.errors import InfrastructureError
from rampart.core.manifest import AppManifest
from rampart.core.types import ObservabilityLevel, Request, Response
from seatrial.errors import MissingExtraError
from seatrial.snapshot import Json
from seatrial.text import one_line

if TYPE_CHECKING:
    import httpx

__all__ = ["HttpAdapter"]

_SHOWN = 300


class HttpAdapter:
    """Sends each prompt as one request and reads the answer from its JSON.

    Args:
        url: Where the agent listens.
        body: What is sent, as JSON. In its texts `{prompt}` stands for what is said and `{session}`
            for an id of the conversation; a text that is nothing but `{messages}` becomes the whole
            conversation, as a list of `{"role": "user" | "assistant", "content": ...}`.
        text: Where in the answer the text is: names and places parted by dots, as in
            "choices.0.message.content".
        tool_calls: Where the list of tool calls is, each with `name`, `arguments` and `result`.
        side_effects: Where the list of side effects is, each with `kind` and `details`.
        headers: Sent with every request. Never shown: keys are in them.
        observability: What the answers show.
        manifest: What the agent can do.

    Raises:
        MissingExtraError: When a session is opened and the extra `http` is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        body: Json,
        text: str,
        tool_calls: str | None = None,
        side_effects: str | None = None,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
        observability: ObservabilityLevel = ObservabilityLevel.RESPONSE_ONLY,
        manifest: AppManifest | None = None,
    ) -> None:
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError("HttpAdapter: url must begin with http:// or https:// and name a host")
        if "{prompt}" not in json.dumps(body) and "{messages}" not in json.dumps(body):
            raise ValueError("HttpAdapter: body has neither {prompt} nor {messages} in it")
        self._url = url
        self._name = f"the agent at {address.hostname}"
        self._body = body
        self._method = method
        self._headers = dict(headers or {})
        self._paths = (text, tool_calls, side_effects)
        self._observability = checked_observability("HttpAdapter", observability)
        sees_calls = self._observability is not ObservabilityLevel.RESPONSE_ONLY
        if sees_calls and tool_calls is None:
            raise ValueError(
                f"HttpAdapter: observability {observability.value!r} needs tool_calls, the place of"
                " the tool calls in the answer"
            )
        self._manifest = manifest or AppManifest(name=address.hostname)

    def __repr__(self) -> str:
        return f"HttpAdapter(<{urlsplit(self._url).hostname}>)"

    @property
    def manifest(self) -> AppManifest:
        """What the agent can do."""
        return self._manifest

    @property
    def observability_profile(self) -> ObservabilityLevel:
        """What its answers show."""
        return self._observability

    async def create_session_async(self) -> _Session:
        """A conversation with an id and connections of its own."""
        try:
            import httpx
        except ImportError:
            raise MissingExtraError("http", "HttpAdapter") from None
        # The limits are the execution's; see `Timeouts`.
        return _Session(self, httpx.AsyncClient(headers=self._headers, timeout=None))

    def _request(self, prompt: str, session: str, said: list[Json]) -> Json:
        return _filled(self._body, {"{prompt}": prompt, "{session}": session}, said)

    def _response(self, answer: Json) -> Response:
        text, calls, effects = self._paths
        found = _at(answer, text or "", self._name)
        if not isinstance(found, str):
            raise InfrastructureError(
                f"{self._name}: {text} of its answer is a {type(found).__name__}: expected text"
            )
        return Response(
            text=found,
            tool_calls=[
                tool_call_of(item, self._name) for item in _items(answer, calls, self._name)
            ],
            side_effects=[
                side_effect_of(item, self._name) for item in _items(answer, effects, self._name)
            ],
        )


class _Session:
    def __init__(self, adapter: HttpAdapter, client: httpx.AsyncClient) -> None:
        self._adapter = adapter
        self._client = client
        self._id = uuid.uuid4().hex
        self._said: list[Json] = []

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._client.__aexit__(exc_type, exc, traceback)

    async def send_async(self, request: Request) -> Response:
        adapter = self._adapter
        prompt = prompt_of("HttpAdapter", request)
        self._said.append({"role": "user", "content": prompt})
        body = adapter._request(prompt, self._id, self._said)  # noqa: SLF001 - one class in two parts
        response = adapter._response(await self._sent(body))  # noqa: SLF001
        self._said.append({"role": "assistant", "content": response.text})
        return response

    async def _sent(self, body: Json) -> Json:
        import httpx

        adapter = self._adapter
        name = adapter._name  # noqa: SLF001
        received = bytearray()
        try:
            async with self._client.stream(adapter._method, adapter._url, json=body) as answer:  # noqa: SLF001
                async for part in answer.aiter_bytes():
                    received += part
                    if len(received) > LARGEST_ANSWER:
                        raise InfrastructureError(
                            f"{name} answered with more than {LARGEST_ANSWER:,} bytes"
                        )
        except httpx.HTTPError as error:
            raise InfrastructureError(f"{name} cannot be reached: {type(error).__name__}") from None
        shown = one_line(received[:_SHOWN].decode("utf-8", "replace"))
        if answer.status_code >= 400:
            raise InfrastructureError(f"{name} answered {answer.status_code}: {shown}")
        try:
            parsed: Json = json.loads(received)
        except (ValueError, RecursionError):
            raise InfrastructureError(f"{name} answered with no JSON: {shown}") from None
        return parsed


def _filled(template: Json, values: Mapping[str, str], said: list[Json]) -> Json:
    if isinstance(template, str):
        if template == "{messages}":
            return list(said)
        # In one pass: a prompt may have a placeholder of its own in it.
        parts, rest = [], template
        while rest:
            places = [(rest.find(name), name) for name in values if name in rest]
            if not places:
                break
            place, name = min(places)
            parts += [rest[:place], values[name]]
            rest = rest[place + len(name) :]
        return "".join([*parts, rest])
    if isinstance(template, list):
        return [_filled(item, values, said) for item in template]
    if isinstance(template, dict):
        return {name: _filled(item, values, said) for name, item in template.items()}
    return template


def _at(answer: Json, path: str, name: str) -> Json:
    found: Any = answer
    for step in path.split(".") if path else ():
        try:
            found = found[int(step)] if isinstance(found, list) else found[step]
        except (LookupError, TypeError, ValueError):
            shown = one_line(json.dumps(answer), limit=_SHOWN)
            raise InfrastructureError(f"{name}: its answer has no {path}: {shown}") from None
    result: Json = found
    return result


def _items(answer: Json, path: str | None, name: str) -> list[Json]:
    if path is None:
        return []
    found = _at(answer, path, name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise InfrastructureError(
            f"{name}: {path} of its answer is a {type(found).__name__}: expected a list"
        )
    return found
