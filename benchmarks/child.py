"""Running one command in a process of its own, and what that took."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ChildError", "Command", "Measurement", "measure"]

_TIMEOUT_S = 600.0
_TAIL_CHARACTERS = 400
_OURS = ("PYTHON", "PYTEST", "KENSA", "RAMPART", "SEATRIAL")


class ChildError(Exception):
    """A command did not do what was to be measured; the text says what it did instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command and what shows that it did its work.

    Args:
        words: The program and its arguments.
        folder: Where it runs. Whatever it leaves there is removed, but for compiled Python.
        passed: How many tests it must report as passed; None for a command that is not pytest.
    """

    words: tuple[str, ...]
    folder: Path
    passed: int | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one process took, from its start until it was gone.

    Args:
        wall_s: Seconds on the clock.
        cpu_s: Seconds of processor time, its ended children's included.
        peak_bytes: The largest resident set that it, or any one of its ended children, had.
    """

    wall_s: float
    cpu_s: float
    peak_bytes: int


def measure(command: Command) -> Measurement:
    """Run the command once.

    Raises:
        ChildError: If it fails, takes longer than ten minutes, or passes another number of tests.
    """
    kept = {entry.name for entry in command.folder.iterdir()} | {"__pycache__"}
    with tempfile.TemporaryFile() as output:
        try:
            status, measurement = _run(command, output.fileno())
        finally:
            _tidy(command.folder, kept)
        output.seek(0)
        text = output.read().decode(errors="replace")
    _check(command, status, text)
    return measurement


def _run(command: Command, output: int) -> tuple[int, Measurement]:
    began_s = time.perf_counter()
    process = subprocess.Popen(
        command.words,
        cwd=command.folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # so that a time-out ends its workers too
    )
    alarm = threading.Timer(_TIMEOUT_S, _end_group, [process.pid])
    alarm.daemon = True
    alarm.start()
    try:
        # Only wait4 tells the usage of this one child. Linux lets a child begin with the peak of
        # the process that started it, so this one must stay smaller than what it measures.
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - began_s
    except BaseException:
        _end_group(process.pid)
        process.wait()
        raise
    finally:
        alarm.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu_s = usage.ru_utime + usage.ru_stime
    return process.returncode, Measurement(wall_s, cpu_s, usage.ru_maxrss * 1024)


def _environment() -> dict[str, str]:
    """What this process was given, without what would make Python, pytest or a suite differ."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}


def _end_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _tidy(folder: Path, kept: set[str]) -> None:
    """Remove what a run left, so that each run finds what the first one found."""
    for entry in folder.iterdir():
        if entry.name in kept:
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _check(command: Command, status: int, text: str) -> None:
    said = " ".join(command.words)
    tail = text.strip()[-_TAIL_CHARACTERS:]
    if status != 0:
        raise ChildError(f"`{said}` ended with {status}, expected 0: {tail}")
    if command.passed is None:
        return
    found = re.findall(r"(\d+) passed", text)
    if not found or int(found[-1]) != command.passed:
        raise ChildError(f"`{said}` did not report `{command.passed} passed`: {tail}")
