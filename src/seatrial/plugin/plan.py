"""The plan of a session: which trials it selected, and which id means which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from seatrial.plugin.keys import planned_key, position_key

if TYPE_CHECKING:
    from seatrial.run import PlannedTrial

__all__ = ["find_planned", "own_nodeid", "planned_trials"]


def planned_trials(items: Iterable[pytest.Item]) -> dict[str, PlannedTrial]:
    """The trials among `items`, by node id; every item learns its place."""
    planned = {}
    for position, item in enumerate(items):
        item.stash[position_key] = position
        trial = item.stash.get(planned_key, None)
        if trial is not None:
            item.stash[planned_key] = planned[trial.nodeid] = replace(trial, position=position)
    return planned


def find_planned(plan: Mapping[str, PlannedTrial], nodeid: str) -> PlannedTrial | None:
    """The trial that a report's node id means; xdist's loadgroup mode appends `@group` to ids."""
    return plan.get(nodeid) or plan.get(nodeid.rpartition("@")[0])


def own_nodeid(item: pytest.Item) -> str:
    """The id that pytest gave an item; xdist's loadgroup mode, before pytest 9.2, appends to it."""
    if "xdist_group" not in item.keywords:
        return item.nodeid
    marks = item.iter_markers("xdist_group")
    groups = {
        str(mark.args[0] if mark.args else mark.kwargs.get("name", "default")) for mark in marks
    }
    return item.nodeid.removesuffix(f"@{'_'.join(sorted(groups))}")
