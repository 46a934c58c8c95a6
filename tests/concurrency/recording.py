"""What a session said, as plain data that two sessions can be compared by."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Generator
from typing import Any

import pytest

from seatrial import codec
from seatrial.plugin.keys import run_key
from seatrial.plugin.session import verdicts_of
from seatrial.run import Run

__all__ = ["Recording", "normalised"]

# What differs between any two sessions.
_VOLATILE = (
    (re.compile(r"\[gw\d+\] \S+ -- Python \S+ \S+\n\n?"), ""),  # xdist's line above a traceback
    (re.compile(r"0x[0-9a-fA-F]{4,}"), "0xADDRESS"),
    (re.compile(r"\b\d+(\.\d+)?( ?ms|s\b)"), "SECONDS"),
    (re.compile(r"pytest-of-\w+/pytest-\d+|runpytest-\d+"), "BASETEMP"),
    (re.compile(r"Task-\d+"), "Task-N"),
    (re.compile(r"Thread-\d+"), "Thread-N"),
)
_GROUP_FRAMES = re.compile(
    r"(Exception Group Traceback \(most recent call last\):\n)(  \|   .*\n)+"
)
_VOLATILE_KEYS = frozenset(
    (
        "duration_s",
        "duration_seconds",
        "evaluate_seconds",
        "send_seconds",
        "end_ns",
        "span_id",
        "start_ns",
        "started_at",
        "timestamp",
        "trace_id",
    )
)


def normalised(text: str) -> str:
    """The text without addresses, durations and names that count."""
    for pattern, replacement in _VOLATILE:
        text = pattern.sub(replacement, text)
    return text


class Recording:
    """A plugin that notes, in the process that reports, all that was reported.

    Attributes:
        reports: Of each node id, the phases in the order in which they were reported.
        order: Node ids in the order of their first report.
        warnings: What each node id was warned of; "" for what belongs to none.
        run: Our own records of each trial, and the verdict of each group.
        durations: Of each phase of each node id, in seconds.
        most_in_flight: The most items whose protocol was running at the same time.
    """

    def __init__(self) -> None:
        self.reports: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.order: list[str] = []
        self.warnings: dict[str, list[str]] = defaultdict(list)
        self.run: dict[str, Any] = {}
        self.durations: dict[tuple[str, str | None], float] = {}
        self.most_in_flight = 0
        self._in_flight = 0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            return (yield)
        finally:
            self._in_flight -= 1

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.nodeid not in self.reports:
            self.order.append(report.nodeid)
        self.reports[report.nodeid].append(_plain_report(report))
        self.durations[report.nodeid, report.when] = report.duration

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str) -> None:
        text = f"{when}: {warning_message.category.__name__}: {warning_message.message}"
        self.warnings[nodeid].append(normalised(f"{text} (line {warning_message.lineno})"))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        run = session.config.stash.get(run_key, None)
        if run is not None:
            self.run = _plain_run(session.config, run)


def _plain_report(report: pytest.TestReport) -> dict[str, Any]:
    return {
        "when": report.when,
        "outcome": report.outcome,
        "wasxfail": getattr(report, "wasxfail", None),
        "longrepr": _plain_longrepr(report),
        "sections": [[name, normalised(text)] for name, text in report.sections],
        "user_properties": [[name, normalised(str(v))] for name, v in report.user_properties],
        "keywords": sorted(report.keywords),
        "location": list(report.location),
    }


def _plain_longrepr(report: pytest.TestReport) -> str | list[str] | None:
    if report.longrepr is None:
        return None
    if isinstance(report.longrepr, tuple):
        return [normalised(str(part)) for part in report.longrepr]
    # Of a group of exceptions pytest shows its own frames too, down to where it made the group.
    return normalised(_GROUP_FRAMES.sub(r"\1", report.longreprtext))


def _plain_run(config: pytest.Config, run: Run) -> dict[str, Any]:
    records: dict[str, Any] = {}
    for record in run.records:
        document = json.loads(codec.dump_record(record))
        _name_parents(document)
        records[record.nodeid] = _without_volatile(document)
    return {
        "planned": sorted(run.planned),
        "incomplete": list(run.incomplete),
        "records": records,
        "verdicts": {
            f"{key.face} {key.label}": normalised(str(verdict))
            for key, verdict in verdicts_of(config, run).items()
        },
    }


def _name_parents(record: dict[str, Any]) -> None:
    """Refer to parent spans by name; the ids are random."""
    spans = (record.get("trace") or {}).get("spans", [])
    names = {span["span_id"]: span["name"] for span in spans}
    for span in spans:
        span["parent_span_id"] = names.get(span["parent_span_id"])


def _without_volatile(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_volatile(v) for k, v in value.items() if k not in _VOLATILE_KEYS}
    if isinstance(value, list):
        return [_without_volatile(part) for part in value]
    return normalised(value) if isinstance(value, str) else value
