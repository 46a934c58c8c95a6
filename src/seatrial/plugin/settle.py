"""Settling a report in the process where its trial ran: failed, tolerated or accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from seatrial.outcome import Outcome
from seatrial.plugin import carry
from seatrial.plugin.faces import face_named
from seatrial.plugin.plan import find_planned

if TYPE_CHECKING:
    from seatrial.run import PlannedTrial

__all__ = ["settle"]


def settle(
    config: pytest.Config, plan: Mapping[str, PlannedTrial], report: pytest.TestReport
) -> None:
    """Let a trial that missed leave as tolerated, if its group's policy knows tolerance."""
    outcome = carry.peek_outcome(report)
    if outcome is None or outcome in (Outcome.PASSED, Outcome.SKIPPED):
        return
    if report.outcome not in ("passed", "failed"):
        return  # a rerun plugin has claimed this attempt
    planned = find_planned(plan, report.nodeid)
    face = face_named(config, planned.key.face) if planned is not None else None
    if planned is None or face is None:
        return
    if not face.policy(planned.policy).tolerates(outcome):
        return
    word = face.accepted_as(outcome)
    if word is not None:
        carry.accept(report, word)
    else:
        carry.tolerate(report, carry.reason_on(report) or face.words[outcome])
