"""Waiting for a result from code that does not await.

Where trials run at the same time, whoever waits in the thread of their event loop would hold up all
others; the plugin then says how to wait instead. Code that its trial has given up on waits no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from seatrial.scope import lent_scope

__all__ = ["wait_for", "waiting_by"]

_T = TypeVar("_T")

_wait: Callable[[Future[Any]], None] | None = None


def wait_for(future: Future[_T]) -> _T:
    """The future's result, when it has come. The future is cancelled if the wait is interrupted.

    Raises:
        concurrent.futures.CancelledError: If the caller's trial was given up on.
        Exception: Whatever the future ends with.
    """
    lent = lent_scope()
    try:
        with nullcontext() if lent is None else lent.cancelling(future):
            if _wait is not None:
                _wait(future)
            return future.result()
    except BaseException:
        future.cancel()
        raise


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
