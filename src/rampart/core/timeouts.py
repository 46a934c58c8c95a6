"""How long the parts of an execution may take."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Generator
from dataclasses import dataclass, fields
from typing import Any, TypeVar

__all__ = ["DEFAULT_TIMEOUTS", "Timeouts", "within"]

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Seconds that each part may take; None for as long as it likes.

    Attributes:
        open: Opening a session.
        send: One answer of the agent.
        decide: One decision of the driver.
        evaluate: One evaluation.
        inject: Putting one payload in place.
        ready: All payloads' becoming visible to the agent.
        cleanup: Closing a session, or taking one payload away.

    Raises:
        ValueError: If one is not above 0.
        TypeError: If one is no number.
    """

    open: float | None = 60.0
    send: float | None = 300.0
    decide: float | None = 300.0
    evaluate: float | None = 300.0
    inject: float | None = 60.0
    ready: float | None = 120.0
    cleanup: float | None = 60.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(f"timeout {field.name!r}: expected seconds or None, not {value!r}")
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"timeout {field.name!r}: expected seconds above 0, not {value!r}")


DEFAULT_TIMEOUTS = Timeouts()


async def within(seconds: float | None, work: Awaitable[_T], what: str) -> _T:
    """The result of `work`, cancelled if it takes longer.

    Raises:
        TimeoutError: Naming `what` and the limit.
    """
    if seconds is None:
        return await work
    running = work.__await__()
    try:
        first = next(running)
    except StopIteration as done:  # most adapters of tests, and most evaluators, never wait
        result: _T = done.value
        return result
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await _Rest(first, running)
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise TimeoutError(f"{what} took longer than {seconds:g} s") from error


class _Rest(Awaitable[_T]):
    """What is left of something awaited, after what it waits for first."""

    def __init__(self, first: Any, running: Generator[Any, Any, _T]) -> None:
        self._first = first
        self._running = running

    def __await__(self) -> Generator[Any, Any, _T]:
        waited_for = self._first
        while True:
            raised: BaseException | None = None
            sent = None
            try:
                sent = yield waited_for
            except GeneratorExit:
                self._running.close()
                raise
            except BaseException as error:  # noqa: BLE001 - it is the inner code's to see
                raised = error
            try:
                if raised is not None:
                    waited_for = self._running.throw(raised)
                else:
                    waited_for = self._running.send(sent)
            except StopIteration as done:
                result: _T = done.value
                return result
