"""Running one suite with one trial at a time and with many, and comparing what was said."""

from __future__ import annotations

import difflib
import json
import re
import shutil
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from .process_state import changes, process_state
from .recording import Recording, normalised

__all__ = ["TOGETHER", "Parity", "Sessions", "SuiteSession"]

Parity = Callable[..., "SuiteSession"]
"""The fixture `parity`."""

TOGETHER = 20
"""Trials in flight at once, where a suite runs with many."""

IMPORTS = """
import asyncio, contextvars, logging, os, sys, threading, warnings
import pytest
from kensa.pytest import judge, kensa_case
from kensa.tracing import record_tool_call
from rampart import HarmCategory, ObservabilityLevel, Result, SafetyStatus, record_result
from together import event, meet, meet_async

def record(status, summary="said so", **fields):
    record_result(Result(status=SafetyStatus(status), summary=summary, **fields))

"""
_TOGETHER_SOURCE = Path(__file__).with_name("together.py")
_SUMMARIES = re.compile(r"^=+ (RAMPART Safety Summary|Kensa.*) =+$")


@dataclass(frozen=True)
class SuiteSession:
    """One session of a suite, over.

    Attributes:
        recording: What its reporting process said.
        status: The exit status.
        lines: What it wrote to the terminal.
        events: What its tests noted, in order: who, and what.
    """

    recording: Recording
    status: int
    lines: tuple[str, ...]
    events: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The terminal's text."""
        return "\n".join(self.lines)

    @property
    def counts(self) -> dict[str, int]:
        """How many reports there were of each kind, as pytest's last line counts them."""
        parsed: dict[str, int] = pytest.RunResult.parse_summary_nouns(list(self.lines))
        return parsed

    def reports(self, name: str) -> list[dict[str, Any]]:
        """The reports of the test whose node id ends with this name."""
        (nodeid,) = (known for known in self.recording.reports if known.endswith(f"::{name}"))
        reports: list[dict[str, Any]] = self.recording.reports[nodeid]
        return reports

    def report(self, name: str, when: str = "call") -> dict[str, Any]:
        """The report of one phase of a test."""
        return next(report for report in self.reports(name) if report["when"] == when)

    def sections(self, name: str) -> dict[str, str]:
        """What was captured of a test, by the title of the section, when it was over."""
        return dict(self.reports(name)[-1]["sections"])

    def record(self, name: str) -> dict[str, Any]:
        """Our record of the trial whose node id ends with this name."""
        records = self.recording.run["records"]
        (nodeid,) = (known for known in records if known.endswith(f"::{name}"))
        record: dict[str, Any] = records[nodeid]
        return record

    def noted(self, who: str = "shared") -> list[str]:
        """What the suite noted about somebody."""
        return [what for known, what in self.events if known == who]

    def said(self) -> dict[str, Any]:
        """All that must not depend on how many trials were in flight."""
        events: dict[str, list[str]] = defaultdict(list)
        for who, what in self.events:
            events[who].append(what)
        return {
            "status": self.status,
            "reports": dict(self.recording.reports),
            "warnings": dict(self.recording.warnings),
            "run": self.recording.run,
            "events": events,
            "counts": self.counts,
            "short summary": sorted(Counter(_short_summary(self.lines)).items()),
            "summaries": _summaries(self.lines),
        }


class Sessions:
    """Runs suites in a folder of pytester's, in this process."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self._pytester = pytester
        self._monkeypatch = monkeypatch

    def write(self, suite: str, files: Mapping[str, str] | None = None) -> None:
        """Write a suite: its test_suite.py, and other files by name without their ending."""
        self._monkeypatch.setenv("TRIALS_IN_FLIGHT", str(TOGETHER))
        shutil.copy(_TOGETHER_SOURCE, self._pytester.path / "together.py")
        sources = {"test_suite": suite, **(files or {})}
        for name, text in sources.items():
            path = self._pytester.path / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(IMPORTS + dedent(text), encoding="utf-8")

    def run(self, *options: str, in_flight: int = TOGETHER) -> SuiteSession:
        """Run what was written, and check that the process is left as it was."""
        events = self._pytester.path / "events.log"
        events.unlink(missing_ok=True)
        self._monkeypatch.setenv("TRIALS_IN_FLIGHT", str(in_flight))
        recording = Recording()
        before = process_state()
        with warnings.catch_warnings(record=True):
            _as_python_starts()
            result = self._pytester.runpytest_inprocess(
                "-ra",
                f"--trial-concurrency={in_flight}",
                *options,
                plugins=[recording],
                no_reraise_ctrlc=True,
            )
        left = changes(before, process_state())
        assert not left, "\n".join(("the session left changed:", *left))
        noted = events.read_text(encoding="utf-8").splitlines() if events.exists() else []
        pairs = (line.partition("\t") for line in noted)
        return SuiteSession(
            recording=recording,
            status=int(result.ret),
            lines=tuple(result.outlines),
            events=tuple((who, what) for who, _, what in pairs),
        )

    def parity(
        self, suite: str, *options: str, files: Mapping[str, str] | None = None
    ) -> SuiteSession:
        """Run a suite with one trial at a time and with many; they must say the same.

        Returns:
            The session with many.
        """
        self.write(suite, files)
        serial, together = self.both(*options)
        assert_same(serial.said(), together.said())
        assert serial.recording.most_in_flight <= 1
        return together

    def both(self, *options: str) -> tuple[SuiteSession, SuiteSession]:
        """Run what was written with one trial at a time, then with many."""
        serial = self.run(*options, in_flight=1)
        self.forget()
        return serial, self.run(*options)

    def forget(self) -> None:
        """Remove what a session leaves for the next one."""
        shutil.rmtree(self._pytester.path / ".pytest_cache", ignore_errors=True)


def assert_same(serial: dict[str, Any], together: dict[str, Any]) -> None:
    """Fail with the differences, if there are any."""
    if serial == together:
        return
    alone, beside = (
        json.dumps(said, indent=1, sort_keys=True, default=str).splitlines()
        for said in (serial, together)
    )
    difference = difflib.unified_diff(alone, beside, "one at a time", "together", lineterm="", n=4)
    pytest.fail("\n".join(difference), pytrace=False)


def _as_python_starts() -> None:
    """Have the filters that a new process has, instead of this session's."""
    warnings.resetwarnings()
    for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", category)


def _short_summary(lines: tuple[str, ...]) -> list[str]:
    """The lines below "short test summary info", which come in the order of the reports."""
    found = []
    inside = False
    for line in lines:
        if line.startswith("="):
            inside = "short test summary info" in line
        elif inside:
            found.append(normalised(line))
    return found


def _summaries(lines: tuple[str, ...]) -> list[str]:
    """The faces' own sections, whole: they come in the order of collection."""
    found = []
    inside = False
    for line in lines:
        if _SUMMARIES.match(line):
            inside = True
        elif line.startswith("="):
            inside = False
        if inside:
            found.append(normalised(line))
    return found
