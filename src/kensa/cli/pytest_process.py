"""pytest in a process of its own, run by the interpreter that runs the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

__all__ = ["RUN_ID_VARIABLE", "PytestEnd", "pytest_command", "run_pytest"]

RUN_ID_VARIABLE = "SEATRIAL_RUN_ID"
"""Environment variable that names the run, so that its files are known before it starts."""

OUTPUT_LIMIT = 200_000
"""Bytes of each captured stream that are kept, counted from its end."""

_GRACE_S = 10.0


@dataclass(frozen=True, slots=True)
class PytestEnd:
    """How a pytest process ended.

    Attributes:
        returncode: Its exit status; 128 + N if signal N ended it.
        interrupted: Whether Ctrl-C was pressed while it ran.
        stdout: The end of what it wrote; empty unless captured.
        stderr: Likewise.
    """

    returncode: int
    interrupted: bool
    stdout: str = ""
    stderr: str = ""


def pytest_command(arguments: Sequence[str]) -> list[str]:
    """The words that run pytest on `arguments`."""
    return [sys.executable, "-m", "pytest", *arguments]


def run_pytest(
    arguments: Sequence[str], *, folder: Path, run_id: str | None = None, capture: bool
) -> PytestEnd:
    """Run pytest in `folder` until it ends, and after Ctrl-C until it has reported.

    Args:
        run_id: Name for the run; None lets it choose its own.
        capture: Keep its output instead of letting it through; it then gets no standard input.
    """
    environment = {name: text for name, text in os.environ.items() if name != RUN_ID_VARIABLE}
    if run_id is not None:
        environment[RUN_ID_VARIABLE] = run_id
    command = pytest_command(arguments)
    if not capture:
        with subprocess.Popen(command, cwd=folder, env=environment) as process:
            interrupted = _wait(process)
        return PytestEnd(_status(process.returncode), interrupted)
    # Files, not pipes: an agent may write more than memory holds, and only the end is kept.
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        with subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        ) as process:
            interrupted = _wait(process)
        return PytestEnd(_status(process.returncode), interrupted, _end(stdout), _end(stderr))


def _wait(process: subprocess.Popen[bytes]) -> bool:
    """Wait for the process; whether Ctrl-C was pressed meanwhile."""
    try:
        process.wait()
    except KeyboardInterrupt:
        _let_end(process)
        return True
    return False


def _let_end(process: subprocess.Popen[bytes]) -> None:
    # A terminal sends Ctrl-C to pytest as well, which then tears down and writes its results: a
    # second signal would cut that short. Whoever signals this process alone is passed on after
    # a while, and each further Ctrl-C goes one step harder.
    for step in (None, signal.SIGINT, signal.SIGTERM):
        if step is not None:
            process.send_signal(step if os.name == "posix" else signal.SIGTERM)
        try:
            process.wait(timeout=_GRACE_S)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            continue
        return
    process.kill()
    process.wait()


def _status(returncode: int) -> int:
    return returncode if returncode >= 0 else 128 - returncode


def _end(stream: IO[bytes]) -> str:
    size = stream.seek(0, os.SEEK_END)
    dropped = max(0, size - OUTPUT_LIMIT)
    stream.seek(dropped)
    text = stream.read(OUTPUT_LIMIT).decode("utf-8", errors="replace")
    return f"[{dropped} bytes dropped]\n{text}" if dropped else text
