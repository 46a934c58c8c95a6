"""Emission: the run's report goes to every sink, and a sink that fails stops no other."""

from __future__ import annotations

import inspect

import pytest

from rampart.core.errors import describe_error
from rampart.plugin.sink_discovery import discover_sinks, load_conftests
from rampart.plugin.sink_relay import SinkRelay
from rampart.reporting import ReportSink, TestRunReport
from rampart.run_views import report_of
from seatrial.event_loop import run_on_own_loop
from seatrial.run import Run

__all__ = ["emit_report"]


def emit_report(config: pytest.Config, run: Run, relay: SinkRelay) -> list[str]:
    """Find the project's sinks and give each the report of `run`.

    Returns:
        What went wrong, a sentence each.
    """
    problems = load_conftests(config, relay.conftests)
    found = discover_sinks(config, relay.fixture_values)
    problems += [problem for warning in found.warnings if (problem := _warn(config, warning))]
    problems += found.problems
    if found.sinks:
        report = report_of(run)
        problems += [problem for sink in found.sinks if (problem := _emit(sink, report))]
    return problems


def _warn(config: pytest.Config, warning: Warning) -> str:
    try:
        config.issue_config_time_warning(warning, stacklevel=2)
    except Warning as error:  # the user has made errors of warnings
        return f"{type(error).__name__}: {error}"
    return ""


def _emit(sink: ReportSink, report: TestRunReport) -> str:
    try:
        run_on_own_loop(_emitted(sink, report))
    except Exception as error:  # noqa: BLE001 - the project's own code: one must not stop the others
        return f"the report sink {type(sink).__name__} failed: {describe_error(error)}"
    return ""


async def _emitted(sink: ReportSink, report: TestRunReport) -> None:
    answer = sink.emit_async(report=report)
    if inspect.isawaitable(answer):
        await answer
