"""Reports of a run, and the sinks that receive them."""

from __future__ import annotations

from rampart.reporting.json_file import JsonFileReportSink
from rampart.reporting.report import PopulationSummary, TestRunReport, TrialGroupResult
from rampart.reporting.sink import ReportSink

__all__ = [
    "JsonFileReportSink",
    "PopulationSummary",
    "ReportSink",
    "TestRunReport",
    "TrialGroupResult",
]
