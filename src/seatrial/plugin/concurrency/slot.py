"""One item in flight, and how code finds out which one it runs for."""

from __future__ import annotations

import io
import time
from collections import deque
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import pytest

if TYPE_CHECKING:
    import asyncio
    import warnings

    from seatrial.plugin.concurrency.item_thread import ItemThread

__all__ = ["CURRENT", "Slot", "slot_of_context"]


class Slot:
    """An item in flight.

    Attributes:
        item: The item.
        position: Its place in the session's items, from 0.
        context: The context of its code.
        greenlet: Its stack, where it was last suspended.
        phase: "setup", "call" or "teardown".
        stop: What ends its set-up or call, once it must end; its tear-down still runs.
        over: Whether its protocol has ended; whatever comes later is not its own any more.
        fixture_depth: How many of the user's sync fixtures are running on its stack.
        shared_depth: How many shared fixtures it is setting up or tearing down.
        thread: Where the sync code of a sync test runs, once there is any.
        tasks: Tasks that its code started on the shared loop.
        warnings: What it was warned of, in order.
        thread_errors: What threads of its own died of, for pytest's plugin that reports them.
        ready_at: When it last became ready to go on, on the monotonic clock; None while it is not.
        alarm: Number of the time limit of pytest-timeout that holds; a higher one replaces it.
        lag_s: Seconds of the current phase in which it was ready and others were served.
    """

    __slots__ = (
        "__weakref__",
        "alarm",
        "context",
        "fixture_copies",
        "fixture_depth",
        "greenlet",
        "item",
        "lag_s",
        "over",
        "own_fixtures",
        "phase",
        "position",
        "ready_at",
        "shared_depth",
        "stop",
        "streams",
        "tasks",
        "thread",
        "thread_errors",
        "warnings",
    )

    def __init__(self, item: pytest.Function, position: int) -> None:
        self.item = item
        self.position = position
        self.greenlet: Any = None
        self.context: Context | None = None
        self.phase = "setup"
        self.stop: BaseException | None = None
        self.over = False
        self.fixture_depth = 0
        self.shared_depth = 0
        self.thread: ItemThread | None = None
        self.tasks: WeakSet[asyncio.Task[Any]] = WeakSet()
        self.warnings: list[warnings.WarningMessage] = []
        self.thread_errors: deque[Any] = deque()
        self.fixture_copies: dict[Any, Any] = {}
        self.own_fixtures: set[int] = set()
        self.streams: dict[str, io.TextIOWrapper] = {}
        self.ready_at: float | None = None
        self.lag_s = 0.0
        self.alarm = 0

    def must_stop(self) -> bool:
        """Whether it must end now."""
        return self.stop is not None and self.phase != "teardown"

    def note_ready(self) -> None:
        """Remember since when the item could go on."""
        if self.ready_at is None:
            self.ready_at = time.perf_counter()

    def note_resumed(self) -> None:
        """Count how long the item waited for its turn."""
        if self.ready_at is not None:
            self.lag_s += time.perf_counter() - self.ready_at
            self.ready_at = None


CURRENT: ContextVar[Slot | None] = ContextVar("seatrial_slot", default=None)
"""The slot whose code runs; inherited by its tasks, its executors' work and its threads."""


def slot_of_context(context: Context | None = None) -> Slot | None:
    """The slot in flight that code belongs to; None also for one that is over.

    Args:
        context: The code's context, by default the caller's.
    """
    slot = CURRENT.get() if context is None else context.get(CURRENT)
    return None if slot is None or slot.over else slot
