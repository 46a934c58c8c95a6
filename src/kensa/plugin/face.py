"""The evals face, as the engine sees it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from seatrial.outcome import FailureOwner, Outcome
from seatrial.plugin.faces import Face, TrialPlan
from seatrial.plugin.marker_arguments import (
    LIMITS,
    concurrency_argument,
    marker_arguments,
    timeout_argument,
    whole_number_argument,
)

if TYPE_CHECKING:
    from seatrial.gate import Policy

__all__ = ["EvalFace"]


class EvalFace(Face):
    """Evals: `@pytest.mark.kensa(trials=N)`, trials from 1, the verdicts of `EvalPolicy`."""

    name = "kensa"
    marker = "kensa"
    assertion_fails = True
    words = MappingProxyType(
        {
            Outcome.PASSED: "pass",
            Outcome.FAILED: "fail",
            Outcome.INCONCLUSIVE: "inconclusive",
            Outcome.ERROR: "error",
            Outcome.SKIPPED: "skipped",
        }
    )

    def plan(self, mark: pytest.Mark) -> TrialPlan:
        """Read `@pytest.mark.kensa`; one trial unless it says otherwise.

        Raises:
            seatrial.errors.UsageError: As for every face.
        """
        arguments = marker_arguments(mark, first="trials", known=("trials", *LIMITS))
        trials = whole_number_argument(mark, "trials", arguments.get("trials", 1))
        return TrialPlan(
            trials,
            {},
            concurrency=concurrency_argument(mark, arguments),
            timeout_s=timeout_argument(mark, arguments),
        )

    def trial_id(self, index: int) -> str:
        """The id of a trial: trial1, trial2, ..."""
        return f"trial{index}"

    def policy(self, parameters: Mapping[str, object]) -> Policy:
        """The policy; it has no parameters."""
        from kensa.policy import EvalPolicy  # starting pytest needs none

        return EvalPolicy()

    def accepted_as(self, outcome: Outcome) -> str | None:
        """A passing trial whose judges were disabled proved nothing, and says so."""
        return "UNJUDGED" if outcome is Outcome.INCONCLUSIVE else None

    def judges_disabled(self, config: pytest.Config) -> bool:
        """Whether `--kensa-no-judge` was given."""
        return bool(config.getoption("kensa_no_judge"))

    def owner(self, error: BaseException) -> FailureOwner | None:
        """What a typed error of ours says of itself."""
        from kensa.errors import KensaEvalError

        return error.category if isinstance(error, KensaEvalError) else None

    def is_about_judge(self, error: BaseException) -> bool:
        """Whether a failed assertion mentions a judge's answer that is an error."""
        from kensa.blame import is_judges_assertion

        return is_judges_assertion(error)
