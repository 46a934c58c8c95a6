"""Ctrl-C while items are in flight: once stops and records, twice leaves at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interruption"]


class Interruption:
    """Whether the user asked to stop.

    Attributes:
        requested: Once.
        repeated: Once more.
    """

    def __init__(self, poke: Callable[[], None]) -> None:
        """Tell of the first Ctrl-C through `poke`, which may be called at any point of the code."""
        self._poke = poke
        self.requested = False
        self.repeated = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Handle Ctrl-C while the body runs, unless the user's own code handles it already."""
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or (
            before is not signal.default_int_handler
        ):
            yield
            return
        signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            self.repeated = True
            raise KeyboardInterrupt
        self.requested = True
        self._poke()
