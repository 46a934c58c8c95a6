"""What the tests of concurrency share: sessions of small suites, with one trial at a time or many."""

from __future__ import annotations

import pytest

# Once for all inner sessions; each of them would import it anew.
import seatrial.plugin.concurrency.run  # noqa: F401

from .sessions import Parity, Sessions


@pytest.fixture
def sessions(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Sessions:
    """Sessions of a suite that the test writes."""
    return Sessions(pytester, monkeypatch)


@pytest.fixture
def parity(sessions: Sessions) -> Parity:
    """`parity(suite, *options, files=)` requires equal reports; it gives the session with many."""
    compared: Parity = sessions.parity
    return compared
