"""Ending a session early for a reason of ours, in one process and with xdist's workers."""

from __future__ import annotations

import pytest

__all__ = ["stop_session"]


def stop_session(config: pytest.Config, reason: str) -> None:
    """Have no further test begin, and the session fail."""
    session = config.pluginmanager.get_plugin("session")
    if isinstance(session, pytest.Session):
        session.shouldfail = reason
    distributed = config.pluginmanager.get_plugin("dsession")
    if distributed is not None and not distributed.shouldstop:
        distributed.shouldstop = reason  # xdist's controller asks its own flag
