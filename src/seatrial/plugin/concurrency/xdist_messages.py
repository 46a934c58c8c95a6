"""What our part of an xdist worker and our part of the controller tell each other, beside xdist's own.

They are messages of the form of xdist's, on its channel, and never reach xdist itself.
"""

from __future__ import annotations

__all__ = ["PLAN", "RUN_ALONE", "STARTED"]

STARTED = "seatrial_started"
"""From a worker: the item at `position` is about to begin."""

PLAN = "seatrial_plan"
"""From a worker: its plan, as `text` of the codec."""

RUN_ALONE = "seatrial_run_alone"
"""To a worker: the items at `positions` run with nothing else in flight."""
