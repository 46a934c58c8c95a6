"""Exceptions that threads died of: pytest reports them for the item that started the thread."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from _pytest import threadexception

from seatrial.plugin.concurrency.hub import Hub
from seatrial.plugin.concurrency.patches import replaced
from seatrial.plugin.concurrency.slot import slot_of_context
from seatrial.plugin.threads import context_of

__all__ = ["route_thread_errors"]


class _Deque(deque[Any]):
    """pytest's queue of dead threads, of which each item sees its own part."""

    def __init__(self, hub: Hub, before: deque[Any]) -> None:
        super().__init__(before)
        self._hub = hub

    def pop(self, *arguments: Any) -> Any:
        slot = self._hub.running
        if slot is not None and slot.thread_errors:
            return slot.thread_errors.pop()
        return super().pop(*arguments)


@contextmanager
def route_thread_errors(hub: Hub, config: pytest.Config) -> Iterator[None]:
    """Route them while the body runs."""
    key = threadexception.thread_exceptions
    before = config.stash.get(key, None)
    if before is None:
        yield
        return
    note = threading.excepthook
    routed = _Deque(hub, before)

    def excepthook(arguments: threading.ExceptHookArgs, /) -> None:
        note(arguments)  # appends to pytest's own queue
        # The hook runs outside of the context that the thread ran in.
        context = None if arguments.thread is None else context_of(arguments.thread)
        slot = None if context is None else slot_of_context(context)
        if before:
            (routed if slot is None else slot.thread_errors).append(before.pop())

    config.stash[key] = routed
    try:
        with replaced(threading, "excepthook", excepthook):
            yield
    finally:
        before.clear()
        before.extend(routed)
        config.stash[key] = before
