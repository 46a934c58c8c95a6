"""Statistics of trials: what so many passed of so many proves, and how sure that is.

Pure functions of the standard library alone; each names its source.
"""

from __future__ import annotations

from seatrial.statistics.agreement import Kappa, cohen_kappa
from seatrial.statistics.arguments import Side
from seatrial.statistics.comparison import Alternative, boschloo, fisher, mcnemar
from seatrial.statistics.correction import CorrectedRate, JudgeErrors, rogan_gladen
from seatrial.statistics.intervals import Interval, clopper_pearson, wilson
from seatrial.statistics.multiplicity import benjamini_hochberg, e_benjamini_hochberg, holm
from seatrial.statistics.power import (
    detectable_drop,
    most_successes_below,
    power_to_prove,
    successes_to_prove,
    trials_per_group,
    trials_to_prove,
    two_sample_power,
)
from seatrial.statistics.repeated import pass_at_k, pass_hat_k
from seatrial.statistics.sequential import confidence_sequence, log_e_value, sequential_rule
from seatrial.statistics.stopping import Decision, StoppingOutcome, StoppingRule
from seatrial.statistics.wald import WaldTest

__all__ = [
    "Alternative",
    "CorrectedRate",
    "Decision",
    "Interval",
    "JudgeErrors",
    "Kappa",
    "Side",
    "StoppingOutcome",
    "StoppingRule",
    "WaldTest",
    "benjamini_hochberg",
    "boschloo",
    "clopper_pearson",
    "cohen_kappa",
    "confidence_sequence",
    "detectable_drop",
    "e_benjamini_hochberg",
    "fisher",
    "holm",
    "log_e_value",
    "mcnemar",
    "most_successes_below",
    "pass_at_k",
    "pass_hat_k",
    "power_to_prove",
    "rogan_gladen",
    "sequential_rule",
    "successes_to_prove",
    "trials_per_group",
    "trials_to_prove",
    "two_sample_power",
    "wilson",
]
