"""Where a finished run is sent."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from rampart.reporting.report import TestRunReport

__all__ = ["ReportSink"]


@runtime_checkable
class ReportSink(Protocol):
    """Receives the report once, when the run has ended."""

    async def emit_async(self, *, report: TestRunReport) -> None:
        """Store or send the report. Raising fails the session; other sinks still get theirs."""
        ...
