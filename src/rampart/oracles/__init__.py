"""Oracles: evaluators that see for themselves, rather than by what the agent says it did."""

from __future__ import annotations

from rampart.canary import new_canary
from rampart.oracles.canary_leaked import CanaryLeaked
from rampart.oracles.sink import ExfiltrationSink, ReceivedData
from rampart.oracles.state import DatabaseState, FileState

__all__ = [
    "CanaryLeaked",
    "DatabaseState",
    "ExfiltrationSink",
    "FileState",
    "ReceivedData",
    "new_canary",
]
