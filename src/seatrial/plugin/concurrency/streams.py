"""Standard output and error of items in flight: each text goes to the item whose code wrote it.

Capturing stays on for as long as items are in flight together. `sys.stdout` and `sys.stderr` find
the item through the context variable; what reaches the file descriptors otherwise, a subprocess's
output for example, cannot be attributed and is kept apart.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TextIO

import pytest
from _pytest.capture import CaptureManager, CaptureResult

from seatrial.plugin.concurrency.hub import Hub
from seatrial.plugin.concurrency.patches import replaced
from seatrial.plugin.concurrency.slot import Slot, slot_of_context
from seatrial.scope import is_given_up

__all__ = ["route_streams"]

_NAMES = ("stdout", "stderr")


class _Router:
    """Stands in for `sys.stdout` or `sys.stderr`: passes everything on to the item's own stream."""

    ignores_late_code = True

    def __init__(self, name: str, shared: TextIO, tee: TextIO | None) -> None:
        self._name = name
        self._shared = shared
        self._tee = tee

    def _stream(self) -> Any:
        slot = slot_of_context()
        return self._shared if slot is None else _stream_of(slot, self._name)

    def write(self, text: str) -> int:
        if is_given_up():
            return len(text)
        stream = self._stream()
        if self._tee is not None and stream is not self._shared:
            self._tee.write(text)
        written: int = stream.write(text)
        return written

    def fileno(self) -> int:
        """The captured descriptor: a subprocess that writes there belongs to no item."""
        return self._shared.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream(), name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream())


def _stream_of(slot: Slot, name: str) -> io.TextIOWrapper:
    stream = slot.streams.get(name)
    if stream is None:
        stream = slot.streams[name] = io.TextIOWrapper(
            io.BytesIO(), encoding="utf-8", errors="replace", newline="", write_through=True
        )
    return stream


def _take(slot: Slot, name: str) -> str:
    stream = slot.streams.get(name)
    if stream is None:
        return ""
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    text = written.getvalue().decode("utf-8", "replace")
    written.seek(0)
    written.truncate()
    return text


@contextmanager
def route_streams(
    hub: Hub, config: pytest.Config, unattributed: Callable[[str], None]
) -> Iterator[None]:
    """Route both streams while the body runs.

    Args:
        hub: Knows whose phase ends when pytest reads what was captured.
        config: The session's.
        unattributed: Gets what was written by nobody in flight, if anything was.
    """
    manager: CaptureManager | None = config.pluginmanager.get_plugin("capturemanager")
    if manager is None or not manager.is_globally_capturing():
        yield
        return
    tee = manager._method == "tee-sys"
    originals = {name: getattr(sys, name) for name in _NAMES}
    with _reporter_outside(config, manager):
        manager.resume_global_capture()
        shared = {name: getattr(sys, name) for name in _NAMES}

        def read() -> CaptureResult[str]:
            slot = hub.running
            if slot is None:
                return CaptureResult("", "")
            return CaptureResult(_take(slot, "stdout"), _take(slot, "stderr"))

        try:
            with ExitStack() as stack:
                for name in _NAMES:
                    router = _Router(name, shared[name], originals[name] if tee else None)
                    stack.enter_context(replaced(sys, name, router))
                for name, value in (
                    ("resume_global_capture", lambda: None),
                    ("suspend_global_capture", lambda in_=False: None),
                    ("read_global_capture", read),
                ):
                    stack.enter_context(replaced(manager, name, value))
                yield
        finally:
            manager.suspend_global_capture(in_=False)
            left = "".join(manager.read_global_capture())
            if left:
                unattributed(left)


@contextmanager
def _reporter_outside(config: pytest.Config, manager: CaptureManager) -> Iterator[None]:
    """Let the terminal reporter write past the capturing of file descriptors."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capturing = manager._global_capturing
    saved = getattr(getattr(capturing, "out", None), "targetfd_save", None)
    writer = getattr(reporter, "_tw", None)
    if saved is None or writer is None or not _writes_to_stdout(writer._file):
        yield
        return
    writer._file.flush()
    with os.fdopen(
        os.dup(saved),
        "w",
        encoding=getattr(writer._file, "encoding", None),
        errors="replace",
    ) as outside:
        outside.reconfigure(line_buffering=True)
        with replaced(writer, "_file", outside):
            yield


def _writes_to_stdout(file: Any) -> bool:
    try:
        return bool(file.fileno() == 1)
    except (AttributeError, OSError, ValueError):
        return False
