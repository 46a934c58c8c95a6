"""How xdist's controller hands out items when workers run many of them at once."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from seatrial.plugin import carry
from seatrial.plugin.concurrency.xdist_crash import CrashBlame

__all__ = ["XdistScheduling"]


class XdistScheduling:
    """Registered in the controlling process where xdist is."""

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._blame = CrashBlame()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Listen to a worker from its start."""
        self._blame.watch(node)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        """Tell a worker what it has to run alone, before it is given anything."""
        self._blame.warn(node)

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_handlecrashitem(self, report: Any) -> None:
        """Let the report of a crash bring the plan, if its worker got no further."""
        plan = self._blame.plan_of(report.node)
        if plan is not None:
            carry.attach_plan_text(report, plan)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what ran again."""
        for text in self._blame.told:
            terminalreporter.write_line(text)

    @pytest.hookimpl(wrapper=True, optionalhook=True)
    def pytest_xdist_make_scheduler(
        self, config: pytest.Config, log: Any
    ) -> Generator[None, Any, Any]:
        """Replace `--dist=load`, which keeps few items at each worker; have all of them blame justly."""
        from xdist.scheduler import LoadScheduling

        scheduler = yield
        if type(scheduler) is LoadScheduling:
            scheduler = self._load_scheduling(config, log)
        self._blame.adapt(scheduler)
        return scheduler

    def _load_scheduling(self, config: pytest.Config, log: Any) -> Any:
        from xdist.scheduler import LoadScheduling

        # Two more than are in flight: a worker claims its next item before it runs one.
        kept = self._concurrency + 2

        class ConcurrentLoadScheduling(LoadScheduling):  # type: ignore[misc]
            """Keeps each worker supplied with as many items as it can have in flight."""

            def schedule(self) -> None:
                self.maxschedchunk = kept
                super().schedule()
                for node in self.nodes:
                    self.check_schedule(node)

            def check_schedule(self, node: Any, duration: float = 0) -> None:
                if self.collection is None or node.shutting_down:
                    return
                # The last ones are shared out evenly; a worker needs two to run the first.
                left = len(self.pending) + sum(map(len, self.node2pending.values()))
                share = max(2, -(-left // len(self.nodes)))
                missing = min(kept, share) - len(self.node2pending[node])
                if self.pending and missing > 0:
                    self._send_tests(node, missing)
                if not self.pending:
                    node.shutdown()

        return ConcurrentLoadScheduling(config, log)
