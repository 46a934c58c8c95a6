"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.environments import ROOT, Environment

__all__ = ["describe_environment", "describe_machine"]

# Whatever else is installed, these decide what is measured.
_TOLD = (
    "seatrial",
    "pytest",
    "pytest-asyncio",
    "pytest-xdist",
    "pluggy",
    "click",
    "greenlet",
    "opentelemetry-sdk",
    "anyio",
    "rampart",
    "pyrit",
    "kensa",
)


def describe_machine() -> list[tuple[str, str]]:
    """Date, commit, hardware, load and Python, each with its name. Ask before measuring."""
    return [
        ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("commit", _commit()),
        ("processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("memory", f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f} GB"),
        ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
        ("load", f"{os.getloadavg()[0]:.1f} processes wanted to run in the minute before"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
    ]


def describe_environment(environment: Environment) -> str:
    """The distributions in it that matter, with their versions."""
    versions = environment.versions()
    return ", ".join(f"{name} {versions[name]}" for name in _TOLD if name in versions)


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def _commit() -> str:
    """The commit, marked if something in the work tree differs from it; empty without git."""
    ended = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.stdout.strip()
