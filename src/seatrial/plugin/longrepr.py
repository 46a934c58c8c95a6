"""Tracebacks made safe: what an agent said reaches the terminal through assertion messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest._code.code import (
    ExceptionChainRepr,
    ReprEntry,
    ReprEntryNative,
    ReprExceptionInfo,
    ReprTraceback,
)

from seatrial.text import escape

__all__ = ["escape_longrepr"]


def escape_longrepr(report: pytest.TestReport) -> None:
    """Escape control characters in a report's failure text and captured output, in place.

    Lone surrogates are escaped too; they would break xdist's channel.
    """
    longrepr = report.longrepr
    if isinstance(longrepr, str):
        report.longrepr = escape(longrepr)
    elif isinstance(longrepr, tuple):
        path, line, reason = longrepr
        report.longrepr = (path, line, escape(reason))
    elif isinstance(longrepr, (ExceptionChainRepr, ReprExceptionInfo)):
        for traceback in _tracebacks(longrepr):
            _escape_traceback(traceback)
        if longrepr.reprcrash is not None:
            longrepr.reprcrash.message = escape(longrepr.reprcrash.message)
    report.sections = [(name, _encodable(content)) for name, content in report.sections]


def _tracebacks(longrepr: ExceptionChainRepr | ReprExceptionInfo) -> Iterator[ReprTraceback]:
    if isinstance(longrepr, ExceptionChainRepr):
        for traceback, crash, _ in longrepr.chain:
            yield traceback
            if crash is not None:
                crash.message = escape(crash.message)
    else:
        yield longrepr.reprtraceback


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
