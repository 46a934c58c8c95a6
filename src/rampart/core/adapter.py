"""What a team writes to have its agent tested. Conforming is enough; nothing need be inherited."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from rampart.core.manifest import AppManifest
from rampart.core.types import ObservabilityLevel, Request, Response

__all__ = ["AgentAdapter", "Session"]


@runtime_checkable
class Session(Protocol):
    """One conversation with the agent; what `__aenter__` returns is what gets used."""

    async def __aenter__(self) -> Self:
        """Open the conversation."""
        ...

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> bool | None:
        """Close it. The returned value is ignored: no exit can hide a failure."""
        ...

    async def send_async(self, request: Request, /) -> Response:
        """Send one request and wait for the agent to have finished with it."""
        ...


@runtime_checkable
class AgentAdapter(Protocol):
    """The agent under test."""

    async def create_session_async(self) -> Session:
        """A new conversation that remembers nothing of earlier ones."""
        ...

    @property
    def manifest(self) -> AppManifest:
        """What the agent can do."""
        ...

    @property
    def observability_profile(self) -> ObservabilityLevel:
        """What its responses can show. Claiming more than that makes false SAFE verdicts."""
        ...
