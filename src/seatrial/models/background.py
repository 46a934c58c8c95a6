"""The event loop on which all questions to providers are asked, in a thread of its own.

One loop for the process, so that connections are shared by all trials, whatever loops those have,
and so that whoever waits for an answer holds nobody else up.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import functools
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, InvalidStateError
from typing import Any, ParamSpec, TypeVar

from seatrial.waiting import wait_for

__all__ = ["close_at_end", "submit", "waited_for"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_END_S = 2.0
"""Seconds that open connections are given to close at the end of the process."""


class _Background:
    """A loop that runs in a daemon thread until the process ends."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._is_ending = False
        self._loop = asyncio.new_event_loop()
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="seatrial-models", daemon=True
        )
        # In an empty context: the thread outlives the trial that starts it.
        contextvars.Context().run(self._thread.start)
        atexit.register(self._end)

    def submit(self, work: Callable[[], Coroutine[Any, Any, _T]]) -> Future[_T]:
        if self._is_ending:
            raise RuntimeError("the process is ending: no model can be asked any more")
        context = contextvars.copy_context()
        future: Future[_T] = Future()
        self._loop.call_soon_threadsafe(self._start, work, context, future)
        return future

    def _start(
        self,
        work: Callable[[], Coroutine[Any, Any, _T]],
        context: contextvars.Context,
        future: Future[_T],
    ) -> None:
        if future.cancelled():
            return
        task = self._loop.create_task(work(), context=context)

        def cancel(future: Future[_T]) -> None:
            if future.cancelled():
                self._loop.call_soon_threadsafe(task.cancel)

        def done(task: asyncio.Task[_T]) -> None:
            if self._is_ending:
                return  # only daemon threads can be waiting, and they end with the process
            error = None if task.cancelled() else task.exception()
            with contextlib.suppress(InvalidStateError):  # cancelled by who waits for it
                if task.cancelled():
                    future.cancel()
                elif error is not None:
                    future.set_exception(error)
                else:
                    future.set_result(task.result())

        future.add_done_callback(cancel)
        task.add_done_callback(done)

    def close_at_end(self, close: Callable[[], Awaitable[None]]) -> None:
        self._closers.append(close)

    def _end(self) -> None:
        if self.process != os.getpid():
            return
        self._is_ending = True
        try:
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(_END_S)
        except Exception:  # noqa: BLE001 - the process is ending: what does not close now is closed by the system
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_END_S)
        if not self._thread.is_alive():
            self._loop.close()

    async def _close(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await asyncio.gather(*(close() for close in self._closers), return_exceptions=True)


_background: _Background | None = None
_lock = threading.Lock()


def _forget() -> None:
    """A fork has its parent's memory, but none of its threads; a lock may be held by one of them."""
    global _background, _lock
    _background, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _current() -> _Background:
    global _background  # noqa: PLW0603 - one loop serves the process
    with _lock:
        if _background is None:
            _background = _Background()
        return _background


def submit(work: Callable[[], Coroutine[Any, Any, _T]]) -> Future[_T]:
    """Run what `work` makes on the loop, in a copy of the caller's context.

    Returns:
        Its result to come; cancelling that ends the work.
    """
    return _current().submit(work)


def close_at_end(close: Callable[[], Awaitable[None]]) -> None:
    """Have `close` called on the loop when the process ends."""
    _current().close_at_end(close)


def waited_for(ask: Callable[_P, Coroutine[Any, Any, _T]]) -> Callable[_P, _T]:
    """`ask`, run on the loop, for code that does not await; named without its `_async`."""

    @functools.wraps(ask)
    def waiting(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        return wait_for(submit(lambda: ask(*args, **kwargs)))

    waiting.__name__ = waiting.__qualname__ = ask.__name__.removesuffix("_async")
    return waiting
