"""Waiting for a result from code that does not await.

Where trials run at the same time, whoever waits in the thread of their event loop would hold up all
others; the plugin then says how to wait instead. Code that its trial has given up on waits no more,
nor does any past the end of its trial's time, or when its task is to be cancelled: a blocked event
loop could do nothing about either.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

from seatrial.scope import lent_scope

__all__ = ["wait_for", "waiting_by", "waiting_until"]

_T = TypeVar("_T")

_LOOK_S = 0.1
"""Seconds between two looks at whether the task that waits is to be cancelled."""

_wait: Callable[[Future[Any]], None] | None = None
_end_s: ContextVar[float | None] = ContextVar("seatrial_end_of_waits", default=None)


def wait_for(future: Future[_T]) -> _T:
    """The future's result, when it has come. The future is cancelled if the wait is interrupted.

    Raises:
        concurrent.futures.CancelledError: If the caller's trial was given up on.
        asyncio.CancelledError: If the task that waits is to be cancelled.
        TimeoutError: If the time is over until which `waiting_until` lets wait.
        Exception: Whatever the future ends with.
    """
    lent = lent_scope()
    try:
        with nullcontext() if lent is None else lent.cancelling(future):
            if _wait is not None:
                _wait(future)
            _block(future)
            return future.result()
    except BaseException:
        future.cancel()
        raise


def _block(future: Future[Any]) -> None:
    """Return when the future is done."""
    task = asyncio.current_task() if asyncio._get_running_loop() else None  # noqa: SLF001 - tells without raising
    cancelled = 0 if task is None else task.cancelling()
    end_s = _end_s.get()
    while not future.done():
        left_s = None if end_s is None else end_s - time.monotonic()
        if left_s is not None and left_s <= 0:
            raise TimeoutError("the time is over in which this could be waited for")
        if task is not None:
            if task.cancelling() > cancelled:
                raise asyncio.CancelledError
            left_s = _LOOK_S if left_s is None else min(left_s, _LOOK_S)
        # Not `wait`, which a cancelled future wakes only once somebody has taken notice of it.
        with suppress(TimeoutError, CancelledError):
            future.exception(left_s)


@contextmanager
def waiting_until(end_s: float) -> Iterator[None]:
    """Let code in this context, and in tasks and threads begun in it, block until then at most.

    Args:
        end_s: On the clock of `time.monotonic`.
    """
    token = _end_s.set(end_s)
    try:
        yield
    finally:
        _end_s.reset(token)


@contextmanager
def waiting_by(wait: Callable[[Future[Any]], None]) -> Iterator[None]:
    """Have `wait_for` call `wait` first while the body runs, in every thread.

    Args:
        wait: Returns when the future is done, or at once where it cannot help.
    """
    global _wait  # noqa: PLW0603 - there is one event loop that trials share
    before, _wait = _wait, wait
    try:
        yield
    finally:
        _wait = before
