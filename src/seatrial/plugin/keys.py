"""Keys under which the plugin keeps its state in pytest's stashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from seatrial.plugin.faces import Face, TrialPlan
    from seatrial.run import PlannedTrial, Run
    from seatrial.scope import TrialScope

__all__ = ["faces_key", "plan_key", "planned_key", "position_key", "run_key", "scope_key"]

planned_key: pytest.StashKey[PlannedTrial] = pytest.StashKey()
"""On an item: the trial that it is."""

plan_key: pytest.StashKey[TrialPlan] = pytest.StashKey()
"""On an item that is a trial: what its marker asks for."""

position_key = pytest.StashKey[int]()
"""On an item: its place in the collection, from 0."""

scope_key: pytest.StashKey[TrialScope] = pytest.StashKey()
"""On an item: the scope of its current attempt."""

faces_key = pytest.StashKey[tuple["Face", ...]]()
"""On the config: the faces that are loaded."""

run_key: pytest.StashKey[Run] = pytest.StashKey()
"""On the config of the controlling process, once the session is over: the finished run."""
