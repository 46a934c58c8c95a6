"""Imported by the suites that the tests here run: meeting other trials, and noting what happened.

A suite gets a copy of this file. With one trial at a time nobody waits for anybody.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Awaitable
from pathlib import Path

__all__ = ["event", "meet", "meet_async"]

PATIENCE_S = 20
IN_FLIGHT = int(os.environ["TRIALS_IN_FLIGHT"])

_lock = threading.Lock()
_met: dict[object, threading.Event] = defaultdict(threading.Event)
_met_async: dict[object, asyncio.Event] = defaultdict(asyncio.Event)
_arrived: Counter[object] = Counter()
_events = Path(__file__).with_name("events.log")


def event(what: str, who: str = "shared") -> None:
    """Note that something happened, to a trial or to what trials share."""
    with _lock, _events.open("a", encoding="utf-8") as log:
        log.write(f"{who}\t{what}\n")


def meet(parties: int, place: str = "") -> None:
    """Wait until as many trials as `parties` have come here: they are in flight together then."""
    if IN_FLIGHT == 1:
        return
    here = _here(place)
    with _lock:
        _arrived[here] += 1
        met = _met[here]
        if _arrived[here] >= parties:
            met.set()
    if not met.wait(PATIENCE_S):
        raise TimeoutError(f"{_arrived[here]} trials came, {parties} were to meet")


def meet_async(parties: int, place: str = "") -> Awaitable[None]:
    """As `meet`, for trials that wait in the event loop."""
    return _meet_async(parties, _here(place))


async def _meet_async(parties: int, here: object) -> None:
    await asyncio.sleep(0)
    if IN_FLIGHT == 1:
        return
    _arrived[here] += 1
    if _arrived[here] >= parties:
        _met_async[here].set()
    try:
        async with asyncio.timeout(PATIENCE_S):
            await _met_async[here].wait()
    except TimeoutError:
        raise TimeoutError(f"{_arrived[here]} trials came, {parties} were to meet") from None


def _here(place: str) -> object:
    code = sys._getframe(2).f_code
    return place or (code.co_filename, code.co_firstlineno)
