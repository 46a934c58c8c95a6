"""The hub: lets items wait in the middle of pytest's protocol, and resumes them one at a time.

Each item in flight has a stack of its own, a greenlet of the main thread. It leaves its stack only
in `Hub.wait`; everything between two waits runs as if it were alone, so pytest is never entered by
two items at once. While no item can go on, the hub runs the event loop that items wait on.
"""

from __future__ import annotations

import asyncio
import ctypes
import heapq
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from greenlet import getcurrent, greenlet

from seatrial.plugin.concurrency.slot import CURRENT, Slot

__all__ = ["Hub"]

T = TypeVar("T")

LONGEST_WAIT_S = 0.5
"""Seconds after which the hub looks around unasked. A signal that comes in the instant before the
process begins to wait ends no wait, and Python calls its handler only after the next one."""


class Hub:
    """Runs on the thread that made it, pytest's main thread, for one session.

    Attributes:
        running: The slot whose stack is being run; None while the hub itself or the loop runs.
        loop: The event loop that items wait on; None before the first one does.
        is_lent: Whether `running` was entered from the loop, where nobody can wait.
        turn: Grows whenever an item is resumed, or the loop answers a `ping`.
        errors: What escaped from an item's protocol: an interruption, or an error of pytest's own.
    """

    def __init__(self) -> None:
        CURRENT.set(None)  # makes sure that the main context exists
        self._main = getcurrent()
        self._main_context = self._main.gr_context
        self._thread = threading.get_ident()
        self._ready: deque[Slot] = deque()
        self._timers: list[_Timer] = []
        self._order = count()
        # Not an Event: a signal handler may set this while the main thread is inside of it.
        self._pokes: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._futures: list[asyncio.Future[Any]] = []
        self._nobodys = Context()  # for calls of the loop that belong to no item
        self._is_idle = False
        self.running: Slot | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.is_lent = False
        self.turn = 0
        self.errors: list[BaseException] = []

    def is_here(self) -> bool:
        """Whether the caller runs on an item's stack, and not in the loop or in a thread."""
        return self.running is not None and self.is_main_thread()

    def is_main_thread(self) -> bool:
        """Whether the caller runs on pytest's own thread."""
        return threading.get_ident() == self._thread

    @contextmanager
    def lent_to(self, slot: Slot) -> Iterator[None]:
        """Let code that the loop runs enter pytest for its item in the body; it cannot wait there."""
        self.running, self.is_lent = slot, True
        try:
            yield
        finally:
            self.running, self.is_lent = None, False

    def start(self, slot: Slot, protocol: Callable[[], object]) -> None:
        """Run an item's protocol on a stack of its own, until it first waits."""

        def run() -> None:
            CURRENT.set(slot)
            try:
                protocol()
            except BaseException as error:  # noqa: BLE001 - the session ends with it, after the others
                self.errors.append(error)
            finally:
                slot.over = True

        slot.greenlet = greenlet(run, self._main)
        slot.context = slot.greenlet.gr_context = copy_context()
        self._resume(slot)

    def wait(self, is_done: Callable[[], bool], *, until: float | None = None) -> bool:
        """Suspend the running item until the condition holds, or until a monotonic time.

        Whoever makes the condition true calls `wake`; waking too often is harmless.

        Returns:
            Whether the condition holds.
        """
        slot = self.running
        assert slot is not None
        if self.is_lent and not is_done():
            raise RuntimeError(
                f"{slot.item.nodeid} would have to wait for another trial, in the middle of the event"
                " loop that both run on. Request the fixture as an argument of the test"
            )
        timer = None if until is None else self.at(until, lambda: self.wake(slot))
        try:
            while not is_done():
                if until is not None and time.monotonic() >= until:
                    return False
                slot.greenlet = getcurrent()
                self._main.switch()
            return True
        finally:
            if timer is not None:
                timer.call = _nothing

    @contextmanager
    def awaiting(self, future: asyncio.Future[Any]) -> Iterator[None]:
        """Make the hub run its loop while an item waits for a future of it in the body."""
        slot = self.running
        assert slot is not None
        future.add_done_callback(lambda _: self.wake(slot))
        self._futures.append(future)
        try:
            yield
        finally:
            self._futures.remove(future)

    def wake(self, slot: Slot) -> None:
        """Let a waiting item look at its condition again. Callable from every thread."""
        slot.note_ready()
        self._ready.append(slot)
        if self._is_idle and self.is_main_thread() and self.loop is not None:
            # Called by the loop. Others that became ready in the same turn are to be noted first.
            self.loop.call_soon(self._stop_loop, context=self._nobodys)
        else:
            self.poke()

    def poke(self) -> None:
        """Make the hub look around. Callable from every thread, and from signal handlers."""
        loop = self.loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop was closed meanwhile, so nobody waits on it
                loop.call_soon_threadsafe(self._stop_loop, context=self._nobodys)
        if not self._is_idle:
            self._pokes.put(None)

    def ping(self) -> None:
        """Let `turn` grow once the loop gets to it. Callable from every thread."""
        loop = self.loop
        if loop is not None and self._is_idle:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._answer)

    def is_waiting(self) -> bool:
        """Whether the hub waits for threads or for time to pass, and so cannot be blocked."""
        return self.running is None and not self._is_idle

    def _answer(self) -> None:
        self.turn += 1

    def at(self, when: float, call: Callable[[], None]) -> _Timer:
        """Call back on the hub at a monotonic time."""
        timer = _Timer(when, next(self._order), call)
        heapq.heappush(self._timers, timer)
        return timer

    def step(self) -> None:
        """Resume one item that is ready, or wait until something happens."""
        while self._timers and self._timers[0].when <= time.monotonic():
            heapq.heappop(self._timers).call()
        if not self._ready:
            self._idle()
        if self._ready:
            self._resume(self._ready.popleft())

    def adopts(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether items can wait on this loop together: there is one such loop at a time."""
        if not self._futures or self.loop is None or self.loop.is_closed():
            self.loop = loop
        return self.loop is loop

    def call_in_main_context(self, function: Callable[[], T]) -> T:
        """Run a part of the running item's stack in the context that all of the session shares.

        What shared fixtures set in context variables is seen by all, as it is without concurrency.
        """
        slot = self.running

        def run() -> T:
            token = CURRENT.set(slot)
            try:
                return function()
            finally:
                CURRENT.reset(token)

        stack = greenlet(run)
        stack.gr_context = self._main_context
        result: T = stack.switch()
        return result

    def abandon(self, slot: Slot) -> None:
        """Never resume an item, nor let its stack be unwound: that would run pytest's code again."""
        slot.over = True
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(slot.greenlet))

    def _resume(self, slot: Slot) -> None:
        if slot.over:
            return
        slot.note_resumed()
        self.turn += 1
        self.running = slot
        try:
            slot.greenlet.switch()
        finally:
            self.running = None

    def _idle(self) -> None:
        delay = LONGEST_WAIT_S
        if self._timers:
            delay = min(delay, max(0.0, self._timers[0].when - time.monotonic()))
        loop = self.loop
        if loop is None or loop.is_closed() or not self._futures:
            with suppress(queue.Empty):
                self._pokes.get(timeout=delay)
                while True:
                    self._pokes.get_nowait()
            return
        self._is_idle = True
        timer = loop.call_later(delay, self._stop_loop, context=self._nobodys)
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt) as error:
            # A task raises it through the loop; the item that waits for the task gets it too.
            if not any(_raised(future, error) for future in self._futures):
                raise
        finally:
            self._is_idle = False
            timer.cancel()

    def _stop_loop(self) -> None:
        # A call that comes late may find the loop run by somebody else.
        if self._is_idle and self.loop is not None:
            self.loop.stop()


@dataclass(order=True, slots=True)
class _Timer:
    when: float
    order: int
    call: Callable[[], None] = field(compare=False)


def _nothing() -> None:
    pass


def _raised(future: asyncio.Future[Any], error: BaseException) -> bool:
    return future.done() and not future.cancelled() and future.exception() is error
