"""Sync code in the middle of an async test that waits, and lets the event loop go on meanwhile.

Each step of the test's coroutine runs on a stack of its own. Code that has to wait leaves that
stack where it is and gives the loop a future, as if the coroutine had awaited it; the loop resumes
the coroutine when the future is done, and so the stack.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from types import TracebackType
from typing import Any

from greenlet import getcurrent, greenlet

from seatrial.plugin.concurrency.hub import Hub

__all__ = ["OnStack", "wait_on_stack"]


class _Stack(greenlet):
    """Runs one step of a coroutine."""


class _Wait:
    """What a stack is left for."""

    __slots__ = ("future",)

    def __init__(self, future: asyncio.Future[Any]) -> None:
        self.future = future


class OnStack(Coroutine[Any, Any, Any]):
    """A coroutine whose sync parts can wait; to be run by a task like the coroutine itself."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._coroutine = coroutine
        self._left: _Stack | None = None

    def send(self, value: Any) -> Any:
        """Go on where the coroutine awaits, or where sync code in it waits."""
        __tracebackhide__ = True
        left = self._left
        if left is not None:
            return self._after(left, left.switch)
        return self._step(lambda: self._coroutine.send(value))

    def throw(
        self,
        kind: Any,
        value: BaseException | object = None,
        traceback: TracebackType | None = None,
    ) -> Any:
        """Raise it there instead."""
        __tracebackhide__ = True
        error = kind if isinstance(kind, BaseException) else kind(value)
        left = self._left
        if left is not None:
            return self._after(left, lambda: left.throw(error))
        return self._step(lambda: self._coroutine.throw(error))

    def close(self) -> None:
        """End the coroutine."""
        if self._left is not None:
            self._left.throw()
            self._left = None
        self._coroutine.close()

    def __await__(self) -> Any:
        return self._coroutine.__await__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coroutine, name)

    def _step(self, step: Callable[[], Any]) -> Any:
        __tracebackhide__ = True
        stack = _Stack(step)
        stack.gr_context = getcurrent().gr_context
        return self._after(stack, stack.switch)

    def _after(self, stack: _Stack, resume: Callable[[], Any]) -> Any:
        __tracebackhide__ = True
        self._left = None
        result = resume()
        if isinstance(result, _Wait):
            self._left = stack
            return result.future
        return result


def wait_on_stack(hub: Hub) -> Callable[[Future[Any]], None]:
    """How code of items in flight waits for the future of another thread."""

    def wait(future: Future[Any]) -> None:
        stack = getcurrent()
        # In a task of its own, or where pytest was entered from the loop, it has to block.
        if not isinstance(stack, _Stack) or hub.is_lent or future.done():
            return
        awaited = asyncio.wrap_future(future)
        awaited._asyncio_future_blocking = True  # what awaiting it does
        assert stack.parent is not None
        stack.parent.switch(_Wait(awaited))

    return wait
