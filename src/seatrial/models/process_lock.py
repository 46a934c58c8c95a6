"""Locks between the processes of one machine, which the system frees when their holder dies.

A lock excludes the other threads and tasks of its own process too: each is a file opened anew.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["LockedFile", "process_lock", "try_lock"]

_POLL_S = 0.05


class LockedFile:
    """A file that is open and locked, until it is closed or its process dies."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self, most_bytes: int) -> bytes:
        """The file from its start."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        return os.read(self._descriptor, most_bytes)

    def write(self, content: bytes) -> None:
        """Replace the file's first bytes, in one step as far as a killed writer is concerned."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, content)

    def close(self) -> None:
        """Free the lock. A child that was forked meanwhile does not keep it."""
        try:
            _unlock(self._descriptor)
        finally:
            os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def try_lock(path: Path | str) -> LockedFile | None:
    """The file at `path`, locked, or None if somebody else has it; created for this user only.

    Raises:
        OSError: If the file cannot be opened for writing.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        held = _try_lock(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    if held:
        return LockedFile(descriptor)
    os.close(descriptor)
    return None


@contextmanager
def process_lock(path: Path, *, timeout_s: float) -> Iterator[None]:
    """Hold the lock on `path` inside the block; the file is created and left behind.

    Raises:
        TimeoutError: If another process held the lock for `timeout_s` seconds.
    """
    deadline = time.monotonic() + timeout_s
    while (file := try_lock(path)) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"another process held {path} for {timeout_s:g} s")
        time.sleep(_POLL_S)
    with file:
        yield


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
