"""Trials in flight together, in one process: `--trial-concurrency`.

Everything that knows pytest's inside for this purpose is here. With a concurrency of 1 nothing of
it is imported.
"""

from __future__ import annotations

import pytest

from seatrial.plugin.trial_options import TrialOptions

__all__ = ["configure_concurrency"]


class _Serial:
    """Registered in place of concurrency where it cannot work; says so."""

    def __init__(self, missing: list[str]) -> None:
        self._missing = missing

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say why trials ran one at a time."""
        terminalreporter.write_line(
            f"trials ran one at a time: --trial-concurrency does not know this pytest,"
            f" {pytest.__version__}, which has no {', '.join(self._missing)}"
        )


def configure_concurrency(config: pytest.Config, options: TrialOptions) -> None:
    """Put concurrency in place for a session that asked for more than one trial at a time.

    Raises:
        pytest.UsageError: If the extra is not installed, or another option contradicts.
    """
    from seatrial.plugin.concurrency.refusals import refuse_options

    refuse_options(config)
    try:
        import greenlet  # noqa: F401
    except ImportError as error:
        raise pytest.UsageError(
            "--trial-concurrency needs greenlet: pip install 'seatrial[concurrency]'"
        ) from error
    from seatrial.plugin.concurrency.probe import missing_parts

    missing = missing_parts(config)
    if missing:
        config.pluginmanager.register(_Serial(missing), "seatrial-serial")
        return
    if config.pluginmanager.hasplugin("xdist") and not hasattr(config, "workerinput"):
        from seatrial.plugin.concurrency.xdist_scheduler import XdistScheduling

        config.pluginmanager.register(
            XdistScheduling(options.concurrency), "seatrial-xdist-scheduling"
        )
    from seatrial.plugin.concurrency.run import ConcurrentRun

    config.pluginmanager.register(ConcurrentRun(options), "seatrial-concurrency")
