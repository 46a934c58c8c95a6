"""Running async code from code that is not, without touching the caller's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["run_on_own_loop"]

_T = TypeVar("_T")


def run_on_own_loop(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of `work`, run to its end on a new loop; not to be called inside a running one.

    Unlike `asyncio.run` it leaves the thread's current event loop as it is. `asyncio.run` clears
    it, and pytest-asyncio before 1.4 then makes one that nobody closes.

    Raises:
        Exception: Whatever `work` raises.
    """
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)
