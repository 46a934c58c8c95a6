"""An agent that is a function of this process."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Literal, Self

from rampart.adapters.answers import checked_observability, prompt_of, response_of
from rampart.core.manifest import AppManifest
from rampart.core.types import ObservabilityLevel, Request, Response

__all__ = ["CallableAdapter"]


class CallableAdapter:
    """Calls a function with each prompt. `CallableAdapter(agent)` is all that most tests need.

    Args:
        agent: Called with the prompt; gives text, a `Response`, or an object with `text` and, if there
            are any, `tool_calls` (`name`, `arguments`, `result`) and `side_effects` (`kind`,
            `details`); or something to await for one of these. A function that is not `async`
            runs in a thread, so that it may block.
        sessions: "shared": one agent for all sessions, which keeps no memory of them. "made": `agent`
            is called without arguments for every session, and gives the function to call.
        takes: "prompt" for text; "request" for the whole `Request`, with its attachments.
        observability: What the answers show. A function that gives text shows no tool calls.
        manifest: What the agent can do.
    """

    def __init__(
        self,
        agent: Callable[..., Any],
        *,
        sessions: Literal["shared", "made"] = "shared",
        takes: Literal["prompt", "request"] = "prompt",
        observability: ObservabilityLevel = ObservabilityLevel.RESPONSE_ONLY,
        manifest: AppManifest | None = None,
    ) -> None:
        if not callable(agent):
            raise TypeError(f"CallableAdapter: agent must be callable, not {agent!r:.200}")
        if sessions not in ("shared", "made"):
            raise ValueError(f"sessions={sessions!r}: expected 'shared' or 'made'")
        if takes not in ("prompt", "request"):
            raise ValueError(f"takes={takes!r}: expected 'prompt' or 'request'")
        self._agent = agent
        self._is_made = sessions == "made"
        self._takes_request = takes == "request"
        self._observability = checked_observability("CallableAdapter", observability)
        name = getattr(agent, "__name__", type(agent).__name__)
        self._manifest = manifest or AppManifest(name=name)

    @property
    def manifest(self) -> AppManifest:
        """What the agent can do."""
        return self._manifest

    @property
    def observability_profile(self) -> ObservabilityLevel:
        """What its answers show."""
        return self._observability

    async def create_session_async(self) -> _Session:
        """A session, with an agent of its own if they are made."""
        agent = await _called(self._agent) if self._is_made else self._agent
        return _Session(agent, takes_request=self._takes_request)


class _Session:
    def __init__(self, agent: Callable[..., Any], *, takes_request: bool) -> None:
        self._agent = agent
        self._takes_request = takes_request

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None

    async def send_async(self, request: Request) -> Response:
        asked: object = request
        if not self._takes_request:
            asked = prompt_of("CallableAdapter(takes='prompt')", request)
        return response_of(await _called(self._agent, asked), "the agent")


async def _called(function: Callable[..., Any], *arguments: object) -> Any:
    if _is_async(function):
        return await function(*arguments)
    result = await asyncio.to_thread(function, *arguments)
    return await result if isinstance(result, Awaitable) else result


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - to look at, not to call
    )
