"""Drivers: who decides what the agent is told next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rampart.core.types import Request, Turn

__all__ = ["PromptDecision", "PromptDriver"]


@dataclass(frozen=True, kw_only=True)
class PromptDecision:
    """The next request, and why."""

    request: Request
    reasoning: str = ""


@runtime_checkable
class PromptDriver(Protocol):
    """The user's side of a conversation."""

    async def next_prompt_async(self, *, history: list[Turn]) -> PromptDecision | None:
        """The next request after `history`, or None to end the conversation.

        Raises:
            DriverError: If no decision can be made.
        """
        ...
