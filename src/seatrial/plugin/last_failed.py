"""`--lf` selects every trial of a group that failed, and none of a group that passed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from seatrial.gate import Verdict
from seatrial.run import Run

__all__ = ["remember_failed_groups"]


def remember_failed_groups(
    config: pytest.Config, run: Run, verdicts: Mapping[tuple[str, str, str], Verdict]
) -> None:
    """Correct what pytest's cache plugin is about to store as the last failed tests."""
    plugin = config.pluginmanager.get_plugin("lfplugin")
    last_failed = getattr(plugin, "lastfailed", None)
    if not isinstance(last_failed, dict):
        return
    # xdist's loadgroup mode reports ids with a suffix that would match nothing next time.
    for nodeid in list(last_failed):
        if nodeid not in run.planned and nodeid.rpartition("@")[0] in run.planned:
            del last_failed[nodeid]
    for trial in run.planned.values():
        key = trial.key
        verdict = verdicts.get((key.face, key.test, key.case))
        if verdict is None:
            continue
        if verdict.fails:
            last_failed[trial.nodeid] = True
        else:
            last_failed.pop(trial.nodeid, None)
