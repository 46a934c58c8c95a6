"""Where items to run come from: the session's list, or the queue of an xdist worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pytest

__all__ = ["ItemSource", "SessionItems"]


class ItemSource(Protocol):
    """Hands out positions in the session's items, in the order to run them."""

    def peek(self) -> int | None:
        """The next item's position, claimed but not taken; None if there is none, or none yet."""

    def take(self) -> int:
        """The position that `peek` gave, which is ours now."""

    def is_known(self) -> bool:
        """Whether `peek` gives the final answer: an item, or that there will be no more."""

    def wait(self) -> None:
        """Block until `is_known`; only while nothing is in flight."""

    def is_suspect(self, position: int) -> bool:
        """Whether the item must run with nothing else in flight: a worker may have died of it."""

    def starting(self, position: int) -> None:
        """The item's protocol is about to begin."""

    def reporting(self, position: int) -> None:
        """The item's reports are about to be logged."""

    def finished(self, position: int) -> None:
        """The item's protocol is over."""

    def on_change(self, call: Callable[[], None]) -> None:
        """Call back, in any thread, when there may be a new answer."""


class SessionItems:
    """All items of a session, in its order."""

    def __init__(self, items: list[pytest.Item]) -> None:
        self._end = len(items)
        self._next = 0

    def peek(self) -> int | None:
        """The next position, if there is one."""
        return self._next if self._next < self._end else None

    def take(self) -> int:
        """The next position, once."""
        self._next += 1
        return self._next - 1

    def is_known(self) -> bool:
        """Always: the list does not change."""
        return True

    def wait(self) -> None:
        """Nothing to wait for."""

    def is_suspect(self, position: int) -> bool:
        """Nothing is: there are no workers."""
        return False

    def starting(self, position: int) -> None:
        """Nobody needs to know."""

    def reporting(self, position: int) -> None:
        """Nobody needs to know."""

    def finished(self, position: int) -> None:
        """Nobody needs to know."""

    def on_change(self, call: Callable[[], None]) -> None:
        """It never changes."""
