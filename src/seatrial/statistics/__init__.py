"""Statistics of trials: what so many passed of so many proves, and how sure that is.

Pure functions of the standard library alone; each names its source.
"""

from __future__ import annotations

from seatrial.statistics.agreement import Kappa, cohen_kappa
from seatrial.statistics.intervals import Interval, clopper_pearson, wilson

__all__ = ["Interval", "Kappa", "clopper_pearson", "cohen_kappa", "wilson"]
