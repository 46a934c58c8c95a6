"""What the tests of concurrency share: sessions of small suites, with one trial at a time or many."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

from .sessions import Parity, Sessions

# What sessions load as they go. Each inner session would load it anew, as pytester forgets modules.
for _name in (
    "kensa.pytest",
    "kensa.tracing",
    "rampart.plugin.emission",
    "rampart.plugin.sink_discovery",
    "rampart.policy",
    "rampart.recording",
    "rampart.summary",
    "seatrial.plugin.concurrency.probe",
    "seatrial.plugin.concurrency.run",
    "seatrial.plugin.concurrency.xdist_scheduler",
    "seatrial.plugin.evidence",
    "seatrial.plugin.last_failed",
    "seatrial.plugin.notices",
    "seatrial.plugin.recorder",
    "seatrial.plugin.settle",
    "xdist.dsession",
    "xdist.remote",
    "xdist.report",
    "xdist.scheduler",
    "xdist.workermanage",
):
    if importlib.util.find_spec(_name.partition(".")[0]) is not None:
        importlib.import_module(_name)


@pytest.fixture
def sessions(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Sessions:
    """Sessions of a suite that the test writes."""
    return Sessions(pytester, monkeypatch)


@pytest.fixture
def parity(sessions: Sessions) -> Parity:
    """`parity(suite, *options, files=)` requires equal reports; it gives the session with many."""
    compared: Parity = sessions.parity
    return compared
