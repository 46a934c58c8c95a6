"""The thread of a sync test's own code, so that a test that blocks does not hold up the others.

The test and its function-scoped fixtures run here, one after another, in the item's context. What
they ask of pytest meanwhile runs on the item's stack, on the main thread.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any

from greenlet import getcurrent

from seatrial.plugin.concurrency.hub import Hub
from seatrial.plugin.concurrency.slot import Slot
from seatrial.plugin.timeouts import LentBody, TimeLimit, timeout_error
from seatrial.scope import bind, current_scope

__all__ = ["ItemThread"]


class _Answer:
    """What a call gave: a value or what it raised."""

    __slots__ = ("error", "value")

    def __init__(self, function: Callable[[], Any]) -> None:
        __tracebackhide__ = True
        self.value: Any = None
        self.error: BaseException | None = None
        try:
            self.value = function()
        except BaseException as error:  # noqa: BLE001 - raised again where the call was made
            self.error = error

    def get(self) -> Any:
        __tracebackhide__ = True
        if self.error is not None:
            try:
                raise self.error
            finally:
                self.error = None  # no cycle through the traceback
        return self.value


class _GivenUpError(Exception):
    """A call was left behind in its thread."""


class _Worker:
    """One thread and the queues to and from it."""

    def __init__(self, name: str, context: Context, tell: Callable[[], None]) -> None:
        self.messages: queue.SimpleQueue[_Answer | Callable[[], Any]] = queue.SimpleQueue()
        self.is_left_behind = False
        self._inbox: queue.SimpleQueue[_Answer | Callable[[], Any] | None] = queue.SimpleQueue()
        self._context = context
        self._tell = tell
        self.thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self.thread.start()

    def put(self, message: _Answer | Callable[[], Any] | None) -> None:
        """Send a call, the answer to a question, or the end."""
        self._inbox.put(message)

    def ask(self, function: Callable[[], Any]) -> Any:
        """Let the item's stack run `function`; called in the thread, which serves it meanwhile."""
        __tracebackhide__ = True
        if self.is_left_behind:
            raise RuntimeError("the trial is over")
        self._send(function)
        while True:
            message = self._inbox.get()
            if isinstance(message, _Answer):
                return message.get()
            assert message is not None
            self._send(_Answer(message))

    def _serve(self) -> None:
        while (message := self._inbox.get()) is not None:
            assert not isinstance(message, _Answer)
            process = os.getpid()
            answer = self._context.run(_Answer, message)
            if os.getpid() != process:
                os._exit(1)  # the trial forked: in the child nobody waits for the answer
            if self.is_left_behind:
                return
            self._send(answer)

    def _send(self, message: _Answer | Callable[[], Any]) -> None:
        self.messages.put(message)
        self._tell()


def _run_apart(body: Callable[[], Any], worker: _Worker) -> Any:
    """Run a test in a copy of its item's context, and let the item have what it set.

    A test that is given up on keeps its copy, and what the item's context becomes is not its.
    """
    __tracebackhide__ = True
    apart = copy_context()
    before = dict(apart)
    try:
        return apart.run(body)
    finally:
        for name, value in apart.items():
            is_new = name not in before or before[name] is not value
            if is_new and not worker.is_left_behind:
                name.set(value)


class ItemThread:
    """Calls between an item's stack and its thread, in both directions."""

    def __init__(self, hub: Hub, slot: Slot) -> None:
        self._hub = hub
        self._slot = slot
        self._worker: _Worker | None = None
        self._has_lost_context = False

    def call(self, function: Callable[[], Any], *, until: float | None = None) -> Any:
        """Run `function` in the thread while the item waits; called on the item's stack.

        Raises:
            _GivenUpError: If `until`, a monotonic time, passed first, or the item must stop. The
                function may go on; the next call gets another thread.
            BaseException: Whatever `function` raised.
        """
        __tracebackhide__ = True
        worker = self._started()
        worker.put(function)
        while True:
            self._hub.wait(
                lambda: self._slot.must_stop() or not worker.messages.empty(), until=until
            )
            if worker.messages.empty():
                worker.is_left_behind = True
                self._worker = None
                self._has_lost_context = True  # the thread stays in it
                raise _GivenUpError
            message = worker.messages.get()
            if isinstance(message, _Answer):
                return message.get()
            worker.put(_Answer(message))

    def call_fixture(self, function: Callable[[], Any]) -> Any:
        """Run a part of a fixture.

        Raises:
            BaseException: Why the item was stopped meanwhile; else whatever the fixture raised.
        """
        __tracebackhide__ = True
        try:
            return self.call(function)
        except _GivenUpError:
            assert self._slot.stop is not None
            raise self._slot.stop from None

    def run_body(self, function: Callable[[], Any], limit: TimeLimit | None) -> Any:
        """Run the test itself; given up on when its time is over or it must stop.

        Raises:
            TrialTimeoutError: In the first case.
            BaseException: In the second case why it was stopped; else whatever the test raised.
        """
        __tracebackhide__ = True
        scope = current_scope()
        body = LentBody(function)
        worker = self._started()
        until = None if limit is None else time.monotonic() + limit.seconds
        try:
            return self.call(lambda: _run_apart(body, worker), until=until)
        except _GivenUpError:
            error: BaseException
            if self._slot.stop is not None:
                error = self._slot.stop
            else:
                assert limit is not None
                error = timeout_error(limit, worker.thread.ident)
            body.give_up(self._slot.item.config)
            if scope is not None:
                bind(scope)  # the lent one was bound in the same context
        raise error

    def ask(self, function: Callable[[], Any]) -> Any:
        """Run `function` on the item's stack while the thread waits; called in the thread."""
        __tracebackhide__ = True
        assert self._worker is not None
        return self._worker.ask(function)

    def is_current(self) -> bool:
        """Whether the caller runs in the item's thread."""
        worker = self._worker
        return worker is not None and worker.thread is threading.current_thread()

    def end(self) -> None:
        """Let the thread end, now that nothing more will be called."""
        if self._worker is not None:
            self._worker.put(None)

    def _started(self) -> _Worker:
        if self._worker is None:
            context = getcurrent().gr_context
            if context is None or self._has_lost_context:
                context = copy_context()
            self._worker = _Worker(
                f"trial {self._slot.item.name}", context, lambda: self._hub.wake(self._slot)
            )
        return self._worker
