"""Names the trial that blocks all others: async tests share one thread, and one may hold it."""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from seatrial.plugin.concurrency.hub import Hub
from seatrial.plugin.concurrency.slot import Slot

__all__ = ["BLOCKED_S", "watched"]

BLOCKED_S = 10.0
"""Seconds for which nothing else could run before it is said."""

_LOOKS = 10
"""How often it is looked at meanwhile."""


@contextmanager
def watched(
    hub: Hub, in_flight: list[Slot], tell: Callable[[str], None], *, after_s: float = BLOCKED_S
) -> Iterator[None]:
    """Tell, once for each time that it happens, who blocks the hub while the body runs.

    Args:
        hub: The hub.
        in_flight: The items in flight; the list is read from another thread.
        tell: Gets one line, in another thread.
        after_s: For how long it must last, in seconds.
    """
    ended = threading.Event()
    main = threading.get_ident()

    def watch() -> None:
        turn, looks = -1, 0
        while not ended.wait(after_s / _LOOKS):
            if hub.turn != turn or hub.is_waiting():
                turn, looks = hub.turn, 0
                hub.ping()
                continue
            looks += 1
            if looks == _LOOKS and len(in_flight) > 1:
                tell(_describe(hub, in_flight, main, after_s))

    thread = threading.Thread(target=watch, name="seatrial-watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()


def _describe(hub: Hub, in_flight: list[Slot], main: int, after_s: float) -> str:
    slot = hub.running or _slot_in_loop(hub, in_flight)
    name = "something" if slot is None else slot.item.nodeid
    return (
        f"{name} has blocked the {len(in_flight) - 1} other trials in flight for {after_s:g} s, at"
        f" {_place(main)}. Async trials share one thread: await instead of blocking, use"
        " asyncio.to_thread(), or set concurrency=1 on its marker"
    )


def _slot_in_loop(hub: Hub, in_flight: list[Slot]) -> Slot | None:
    task = None
    if hub.loop is not None:
        with suppress(RuntimeError):
            task = asyncio.current_task(hub.loop)
    return next((slot for slot in list(in_flight) if task in slot.tasks), None)


def _place(thread: int) -> str:
    """Where the thread stands: the innermost frame that is not of the standard library."""
    frame = sys._current_frames().get(thread)
    stack = traceback.extract_stack(frame)
    library = threading.__file__.rpartition("/")[0]
    for entry in reversed(stack):
        if not entry.filename.startswith(library) or "site-packages" in entry.filename:
            return f"{entry.filename}:{entry.lineno} in {entry.name}"
    return "an unknown place"
