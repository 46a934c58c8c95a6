"""Ending a session early for a reason of ours, in one process and with xdist's workers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

__all__ = ["find_worker", "hear_stop", "stop_session"]

_STOP = "seatrial_stop"
"""To a worker, in the form of xdist's messages: begin no further item, for `reason`."""


def stop_session(config: pytest.Config, reason: str) -> None:
    """Have no further test begin, and the session fail."""
    session = config.pluginmanager.get_plugin("session")
    if isinstance(session, pytest.Session):
        session.shouldfail = reason
    distributed = config.pluginmanager.get_plugin("dsession")
    if distributed is None or distributed.shouldstop:
        return
    distributed.shouldstop = reason  # xdist's controller asks its own flag
    if distributed.sched is not None:
        # Told to shut down by xdist, a worker would first run all that waits in its queue.
        for node in distributed.sched.nodes:
            with suppress(OSError):  # it is gone
                node.sendcommand(_STOP, reason=reason)


def hear_stop(session: pytest.Session) -> None:
    """Do what `stop_session` tells this worker, from now on. To be called before it runs items."""
    worker = find_worker(session.config)
    if worker is None:
        return
    handle = worker.handle_command

    def handle_or_stop(command: Any) -> None:
        if isinstance(command, tuple) and command[0] == _STOP:
            session.shouldfail = command[1]["reason"]
        else:
            handle(command)

    worker.handle_command = handle_or_stop


def find_worker(config: pytest.Config) -> Any:
    """xdist's part that runs this worker; None in any other process."""
    if not hasattr(config, "workerinput"):
        return None
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            return plugin
    return None
