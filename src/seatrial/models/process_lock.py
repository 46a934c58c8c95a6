"""A lock between the processes of one machine, which the system frees when its holder dies."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["process_lock"]

_POLL_S = 0.05


@contextmanager
def process_lock(path: Path, *, timeout_s: float) -> Iterator[None]:
    """Hold the lock on `path` inside the block; the file is created and left behind.

    Raises:
        TimeoutError: If another process held the lock for `timeout_s` seconds.
    """
    deadline = time.monotonic() + timeout_s
    with path.open("a+b") as file:
        while not _try_lock(file):
            if time.monotonic() > deadline:
                raise TimeoutError(f"another process held {path} for {timeout_s:g} s")
            time.sleep(_POLL_S)
        yield  # closing the file frees the lock


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
