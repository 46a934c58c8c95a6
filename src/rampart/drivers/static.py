"""A driver that knows from the start what it will say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from rampart.core.prompt_driver import PromptDecision, PromptDriver
from rampart.core.types import Request, Turn

__all__ = ["StaticDriver", "as_driver", "is_driver"]


class StaticDriver:
    """Sends its prompts in order, one a turn, then ends. Keeps no state: safe to share.

    Raises:
        ValueError: If there are no prompts, or one is an empty string.
        TypeError: If one is neither a string nor a Request.
    """

    def __init__(self, *, prompts: Sequence[str | Request]) -> None:
        if isinstance(prompts, str) or not isinstance(prompts, Sequence):
            raise TypeError(f"prompts must be a list of strings or Requests, not {prompts!r}")
        if not prompts:
            raise ValueError("prompts is empty: there is nothing to send to the agent")
        self._requests = [_request(prompt, place) for place, prompt in enumerate(prompts)]

    async def next_prompt_async(self, *, history: list[Turn]) -> PromptDecision | None:
        """The prompt whose turn it is after `history`."""
        if self.unsent(history) == 0:
            return None
        return PromptDecision(request=self._requests[len(history)])

    def unsent(self, history: list[Turn]) -> int:
        """How many prompts are left after `history`."""
        return max(0, len(self._requests) - len(history))


def _request(prompt: str | Request, place: int) -> Request:
    if isinstance(prompt, Request):
        return prompt
    if not isinstance(prompt, str):
        raise TypeError(f"prompt {place} must be a string or a Request, not {prompt!r}")
    if not prompt:
        raise ValueError(f"prompt {place} is an empty string; to send one, use Request(prompt='')")
    return Request(prompt=prompt)


def is_driver(value: object) -> TypeGuard[PromptDriver]:
    """Whether `value` can drive a conversation; a class that only its instances would suit cannot."""
    # Asking a protocol takes its time.
    return isinstance(value, StaticDriver) or (
        isinstance(value, PromptDriver) and not isinstance(value, type)
    )


def as_driver(trigger: str | Request | Sequence[str | Request] | PromptDriver) -> PromptDriver:
    """The driver that a trigger stands for.

    Raises:
        ValueError: If the trigger is empty.
        TypeError: If it is nothing that can be sent.
    """
    if isinstance(trigger, (str, Request)):
        return StaticDriver(prompts=[trigger])
    if isinstance(trigger, (list, tuple)):
        return StaticDriver(prompts=trigger)
    if is_driver(trigger):
        return trigger
    raise TypeError(
        f"a trigger must be a string, a Request, a list of those, or a PromptDriver, not {trigger!r}"
    )
