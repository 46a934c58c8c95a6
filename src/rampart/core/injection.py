"""Surfaces: where an attacker's content meets the agent."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from rampart.core.types import Payload

__all__ = ["InjectionHandle", "Surface", "sleep_until_ready"]


@runtime_checkable
class InjectionHandle(Protocol):
    """One payload on one surface: entering puts it there, leaving takes it away.

    Leaving may happen twice. A failure to leave is noted in the result and changes no verdict.
    """

    async def __aenter__(self) -> Self:
        """Put the payload in place."""
        ...

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> bool | None:
        """Take the payload away."""
        ...

    @property
    def payload_id(self) -> str | None:
        """The payload's id, for the record."""
        ...

    @property
    def surface_name(self) -> str:
        """The surface's name, for the record."""
        ...

    async def wait_until_ready(self) -> None:
        """Wait until the agent can come across the payload.

        Raises:
            TimeoutError: If that takes too long; waiting forever is not an answer.
        """
        ...


@runtime_checkable
class Surface(Protocol):
    """A place that the agent reads and an attacker can write to."""

    def inject(self, *, payload: Payload) -> InjectionHandle:
        """Prepare an injection; nothing is written before the handle is entered."""
        ...


async def sleep_until_ready(delay: float) -> None:
    """Wait `delay` seconds, for surfaces that cannot be asked whether they are ready."""
    await asyncio.sleep(delay)
