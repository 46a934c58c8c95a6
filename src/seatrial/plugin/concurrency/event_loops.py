"""Async code of items in flight: they wait together on one event loop.

Whoever runs a coroutine from sync code, pytest-asyncio and anyio included, ends up in
`run_until_complete`. For an item in flight this suspends the item, and the hub runs the loop.
Tests with an event loop of their own share the session's instead: two loops cannot run at once.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from typing import Any
from weakref import WeakSet

import pytest

from seatrial.plugin.concurrency.hub import Hub
from seatrial.plugin.concurrency.patches import replaced
from seatrial.plugin.concurrency.slot import Slot, slot_of_context
from seatrial.plugin.concurrency.sync_waits import OnStack, wait_on_stack
from seatrial.waiting import waiting_by

__all__ = ["ItemLoops", "share_session_loop"]

GRACE_S = 5.0
"""Seconds that a cancelled task gets to end; then the item goes on without it."""

OWN_RUNNER = "_function_scoped_runner"
SESSION_RUNNER = "_session_scoped_runner"

_runner_run = asyncio.Runner.run


class ItemLoops:
    """Routes `run_until_complete` of items in flight to the hub."""

    def __init__(self, hub: Hub, concurrency: int) -> None:
        self._hub = hub
        self._workers = max(32, concurrency + 4)
        self._patched: ExitStack | None = None
        self._routed_classes: set[type] = set()
        self._prepared: list[tuple[asyncio.AbstractEventLoop, Any]] = []
        self._stopped: WeakSet[Slot] = WeakSet()

    @contextmanager
    def routed(self) -> Iterator[None]:
        """Route while the body runs."""
        with ExitStack() as stack:
            self._patched = stack
            self._route(asyncio.BaseEventLoop)
            stack.enter_context(replaced(asyncio.Runner, "run", self._running()))
            stack.enter_context(waiting_by(wait_on_stack(self._hub)))
            try:
                yield
            finally:
                self._routed_classes.clear()
                for loop, factory in self._prepared:
                    if not loop.is_closed():
                        loop.set_task_factory(factory)
                self._prepared.clear()

    def _running(self) -> Callable[..., Any]:
        def run(runner: asyncio.Runner, coroutine: Any, **options: Any) -> Any:
            __tracebackhide__ = True
            # A loop that is not written in Python brings a method of its own.
            self._route(type(runner.get_loop()))
            if self._hub.is_here() and asyncio.iscoroutine(coroutine):
                coroutine = OnStack(coroutine)
            return _runner_run(runner, coroutine, **options)

        return run

    def _route(self, loop_class: type) -> None:
        if self._patched is None or loop_class in self._routed_classes:
            return
        method = loop_class.run_until_complete  # type: ignore[attr-defined]
        if getattr(method, "_is_routed", False):
            return
        self._routed_classes.add(loop_class)
        self._patched.enter_context(
            replaced(loop_class, "run_until_complete", self._completing(method))
        )
        self._patched.enter_context(
            replaced(loop_class, "stop", self._stopping(loop_class.stop))  # type: ignore[attr-defined]
        )

    def _stopping(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Let an item that stops the loop end as it would have alone, and no other."""
        hub = self._hub

        @functools.wraps(original)
        def stop(loop: asyncio.AbstractEventLoop) -> None:
            slot = slot_of_context()
            if slot is not None and loop is hub.loop and hub.is_main_thread():
                self._stopped.add(slot)
                hub.wake(slot)
            original(loop)

        return stop

    def _completing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hub = self._hub

        @functools.wraps(original)
        def run_until_complete(loop: asyncio.AbstractEventLoop, future: Any) -> Any:
            __tracebackhide__ = True
            slot = slot_of_context()
            if slot is not None and slot.thread is not None and slot.thread.is_current():
                if loop is hub.loop:
                    return slot.thread.ask(lambda: run_until_complete(loop, future))
                return original(loop, future)
            if not hub.is_here() or hub.is_lent:
                return original(loop, future)
            assert hub.running is not None
            # A loop that a fixture makes for itself ends in place; nobody else waits on it.
            if hub.running.fixture_depth or not hub.adopts(loop):
                return original(loop, future)
            self._prepare(loop)
            is_new = not asyncio.isfuture(future)
            future = asyncio.ensure_future(future, loop=loop)
            if is_new:
                future._log_destroy_pending = False
            self._complete(hub.running, future)
            return future.result()

        run_until_complete._is_routed = True  # type: ignore[attr-defined]
        return run_until_complete

    def _complete(self, slot: Slot, future: asyncio.Future[Any]) -> None:
        """Wait for the future, or cancel it when the item must stop.

        Raises:
            BaseException: In the second case, why it must.
            RuntimeError: If the item stopped the loop, as asyncio's own does.
        """
        __tracebackhide__ = True
        stopped = False
        self._stopped.discard(slot)

        def is_due() -> bool:
            return future.done() or slot.must_stop() or slot in self._stopped

        with self._hub.awaiting(future):
            self._hub.wait(is_due)
            if not future.done():
                stopped = True
                future.cancel()
                self._hub.wait(future.done, until=time.monotonic() + GRACE_S)
                if isinstance(future, asyncio.Task) and not future.done():
                    slot.tasks.discard(future)
                    _forsake(future)
        if stopped:
            raise slot.stop or RuntimeError("Event loop stopped before Future completed.")

    def _prepare(self, loop: asyncio.AbstractEventLoop) -> None:
        if any(known is loop for known, _ in self._prepared):
            return
        if getattr(loop, "_default_executor", None) is None:
            # Python's own default has 4 threads more than there are processors.
            loop.set_default_executor(
                ThreadPoolExecutor(self._workers, thread_name_prefix="asyncio")
            )
        factory = loop.get_task_factory()
        self._prepared.append((loop, factory))
        loop.set_task_factory(_noting(factory))


def _noting(factory: Any) -> Any:
    """A task factory that remembers whose code made each task."""

    def make(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
        if factory is None:
            task = asyncio.Task(coroutine, loop=loop, **options)
        else:
            task = factory(loop, coroutine, **options)
        slot = slot_of_context(options.get("context"))
        if slot is not None:
            slot.tasks.add(task)
        return task

    return make


def share_session_loop(slot: Slot, definition: Any) -> None:
    """Let the fixture that would make an event loop for one test give the session's instead."""
    if definition.argname != OWN_RUNNER:
        return

    def runner(request: pytest.FixtureRequest) -> Generator[asyncio.Runner, None, None]:
        shared: asyncio.Runner = request.getfixturevalue(SESSION_RUNNER)
        yield shared
        left = [task for task in slot.tasks if not task.done()]
        if left:
            shared.run(_cancel(left), context=copy_context())

    runner.__module__ = __name__
    definition.func = runner
    definition.argnames = ("request",)


async def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    """End the tasks that a test left behind, as closing its own loop would have done."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=GRACE_S)
    for task in tasks:
        if not task.done():
            _forsake(task)
        elif not task.cancelled() and task.exception() is not None:
            task.get_loop().call_exception_handler(
                {
                    "message": "unhandled exception in a task that a test left behind",
                    "exception": task.exception(),
                    "task": task,
                }
            )


def _forsake(task: Any) -> None:
    """Wait no more for a task that will not be cancelled: whoever closes its loop would, forever."""
    asyncio.tasks._unregister_task(task)
    task._log_destroy_pending = False
