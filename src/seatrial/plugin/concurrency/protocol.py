"""One item's protocol on a stack of its own: pytest's hooks and phases, reports when they are whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _pytest.assertion
import _pytest.faulthandler
import _pytest.warnings
import pytest
from _pytest.runner import call_and_report

from seatrial.plugin.concurrency.slot import Slot

__all__ = ["protocol_caller", "run_phases"]

# Entered once for all items in flight: they set what all of the process shares.
_ENTERED_ONCE = (_pytest.assertion, _pytest.faulthandler, _pytest.warnings)


def protocol_caller(item: pytest.Item) -> Callable[..., Any]:
    """`pytest_runtest_protocol` of all plugins that apply to the item, but for those entered once."""
    removed = [*getattr(item.ihook, "remove_mods", ()), *_ENTERED_ONCE]
    manager = item.config.pluginmanager
    return manager.subset_hook_caller("pytest_runtest_protocol", removed)


def run_phases(
    slot: Slot,
    *,
    reporting: Callable[[int], None],
) -> None:
    """Set up, call and tear down, as pytest's own runner does.

    Reports are logged when the call has ended, and again when the tear-down has: what is logged in
    between belongs to no other item.
    """
    item = slot.item

    def log(*reports: pytest.TestReport) -> None:
        reporting(slot.position)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)

    def phase(when: Any, **options: Any) -> pytest.TestReport:
        slot.phase = when
        slot.lag_s = 0.0
        return call_and_report(item, when, log=False, **options)

    try:
        reports = [phase("setup")]
        if reports[0].passed:
            reports.append(phase("call"))
        reporting(slot.position)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        log(*reports)
        log(phase("teardown", nextitem=None))
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    finally:
        item._request = False  # type: ignore[assignment]
        item.funcargs = None  # type: ignore[assignment]
