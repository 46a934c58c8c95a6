"""`--lf` selects every trial of a group that failed, and none of a group that passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from seatrial.gate import Verdict
    from seatrial.run import Run
    from seatrial.trial import GroupKey

__all__ = ["remember_failed_groups"]

_CACHE_KEY = "cache/lastfailed"


def remember_failed_groups(
    config: pytest.Config, run: Run, verdicts: Mapping[GroupKey, Verdict]
) -> None:
    """Correct what pytest has stored as the last failed tests; call after it has stored them."""
    cache = getattr(config, "cache", None)
    if cache is None:
        return
    before = cache.get(_CACHE_KEY, {})
    failed = {}
    for nodeid, value in before.items():
        # xdist's loadgroup mode reports ids with a suffix that would match nothing next time.
        plain = nodeid.rpartition("@")[0]
        failed[plain if plain in run.planned else nodeid] = value
    for group in run.all_groups:
        verdict = verdicts.get(group.key)
        if verdict is None or not group.ended:
            continue  # nothing new is known of it
        for trial in group.planned:
            if verdict.fails:
                failed[trial.nodeid] = True
            else:
                failed.pop(trial.nodeid, None)
    if failed != before:
        cache.set(_CACHE_KEY, failed)
