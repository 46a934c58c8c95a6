"""An xdist worker's part: send the plan ahead, let tolerated misses pass, and stop when told to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from seatrial.plugin import carry
from seatrial.plugin.plan import planned_trials
from seatrial.plugin.settle import settle
from seatrial.plugin.stopping import hear_stop

if TYPE_CHECKING:
    from seatrial.run import PlannedTrial

__all__ = ["WorkerSession"]


class WorkerSession:
    """Registered in xdist's workers in place of the controlling process's session."""

    def __init__(self, config: pytest.Config) -> None:
        """Serve the worker whose configuration this is."""
        self._config = config
        self._plan: dict[str, PlannedTrial] = {}
        self._plan_sent = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what this worker could be asked to run, and listen for the order to stop."""
        self._plan = planned_trials(session.items)
        hear_stop(session)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Prepare a report before xdist sends it."""
        if not self._plan_sent:
            self._plan_sent = True
            carry.attach_plan(report, tuple(self._plan.values()))
        settle(self._config, self._plan, report)
