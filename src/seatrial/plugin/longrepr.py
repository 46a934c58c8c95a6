"""Tracebacks made safe: what an agent said reaches the terminal through assertion messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest._code.code import (
    ExceptionChainRepr,
    ReprEntry,
    ReprEntryNative,
    ReprExceptionInfo,
    ReprFileLocation,
    ReprTraceback,
)

from seatrial.text import escape

__all__ = ["escape_report"]


def escape_report(report: pytest.TestReport) -> None:
    """Escape control characters in why a report failed or was skipped, in place.

    Lone surrogates, which would break xdist's channel, are escaped in captured output and in
    recorded properties too.
    """
    longrepr = report.longrepr
    if isinstance(longrepr, str):
        report.longrepr = escape(longrepr)
    elif isinstance(longrepr, tuple):
        path, line, reason = longrepr
        report.longrepr = (path, line, escape(reason, keep=""))
    elif isinstance(longrepr, (ExceptionChainRepr, ReprExceptionInfo)):
        for traceback in _tracebacks(longrepr):
            _escape_traceback(traceback)
        if longrepr.reprcrash is not None:
            _escape_crash(longrepr.reprcrash)
    if hasattr(report, "wasxfail"):
        report.wasxfail = escape(report.wasxfail, keep="")
    if report.sections:
        report.sections = [(name, _encodable(content)) for name, content in report.sections]
    if report.user_properties:
        report.user_properties = [
            (name, _encodable(value) if isinstance(value, str) else value)
            for name, value in report.user_properties
        ]


def _tracebacks(longrepr: ExceptionChainRepr | ReprExceptionInfo) -> Iterator[ReprTraceback]:
    if isinstance(longrepr, ExceptionChainRepr):
        for traceback, crash, _ in longrepr.chain:
            yield traceback
            if crash is not None:
                _escape_crash(crash)
    else:
        yield longrepr.reprtraceback


def _escape_crash(crash: ReprFileLocation) -> None:
    # On one line: where CI is set, pytest prints it whole in its short summary, with nothing before
    # its lines that would tell them from lines of a report.
    crash.message = escape(crash.message, keep="\t")


def _escape_traceback(traceback: ReprTraceback) -> None:
    for entry in traceback.reprentries:
        if isinstance(entry, (ReprEntry, ReprEntryNative)):
            entry.lines = [escape(line) for line in entry.lines]
        arguments = getattr(entry, "reprfuncargs", None)
        if arguments is not None:
            arguments.args = [(name, escape(str(value))) for name, value in arguments.args]
        local_names = getattr(entry, "reprlocals", None)
        if local_names is not None:
            local_names.lines = [escape(line) for line in local_names.lines]


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
