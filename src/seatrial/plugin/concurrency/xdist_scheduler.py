"""How xdist's controller hands out items when workers run many of them at once."""

from __future__ import annotations

from typing import Any

import pytest

__all__ = ["XdistScheduling"]


class XdistScheduling:
    """Registered in the controlling process where xdist is."""

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_handlecrashitem(self, report: pytest.TestReport) -> None:
        """Say that xdist names the first of the trials that were in flight, whoever it was."""
        report.longrepr = (
            f"{report.longrepr}, or one of up to {self._concurrency - 1} trials in flight beside it."
            " Run with --trial-concurrency=1 to see which"
        )

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Replace `--dist=load`, which keeps few items at each worker."""
        if config.getvalue("dist") != "load":
            return None
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
