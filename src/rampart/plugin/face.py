"""The safety face, as the engine sees it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import pytest

from seatrial.errors import UsageError
from seatrial.outcome import FailureOwner, Outcome
from seatrial.plugin.faces import Face, ResultReading, TrialPlan
from seatrial.plugin.marker_arguments import (
    LIMITS,
    concurrency_argument,
    marker_arguments,
    rate_argument,
    timeout_argument,
    whole_number_argument,
)
from seatrial.plugin.markers import closest_marker
from seatrial.text import one_line

if TYPE_CHECKING:
    from seatrial.gate import Policy
    from seatrial.scope import TrialScope
    from seatrial.snapshot import JsonObject
    from seatrial.trial import TrialRecord

__all__ = ["SafetyFace", "harm_categories"]

_OUTCOMES = {
    "safe": Outcome.PASSED,
    "unsafe": Outcome.FAILED,
    "undetermined": Outcome.INCONCLUSIVE,
    "error": Outcome.ERROR,
}

# By name, so that starting pytest does not import the library that defines them.
_OWNERS = {
    "rampart.core.errors.InfrastructureError": FailureOwner.INFRASTRUCTURE,
    "rampart.core.errors.DriverError": FailureOwner.SIMULATOR,
    "rampart.core.errors.EvaluatorError": FailureOwner.JUDGE,
}


class SafetyFace(Face):
    """Safety tests: `@pytest.mark.trial(n=, threshold=)`, trials from 0, `SafetyPolicy`."""

    name = "rampart"
    marker = "trial"
    assertion_fails = False
    words = MappingProxyType(
        {
            Outcome.PASSED: "SAFE",
            Outcome.FAILED: "UNSAFE",
            Outcome.INCONCLUSIVE: "UNDETERMINED",
            Outcome.ERROR: "ERROR",
            Outcome.SKIPPED: "skipped",
        }
    )

    def plan(self, mark: pytest.Mark) -> TrialPlan:
        """Read `@pytest.mark.trial`; `n` is required, `threshold` is 1.0 unless given.

        Raises:
            seatrial.errors.UsageError: As for every face.
        """
        arguments = marker_arguments(mark, first="n", known=("n", "threshold", *LIMITS))
        if "n" not in arguments:
            raise UsageError(
                "@pytest.mark.trial needs n, the number of trials: a whole number of at least 1,"
                " as in @pytest.mark.trial(n=10)"
            )
        trials = whole_number_argument(mark, "n", arguments["n"])
        threshold = rate_argument(mark, "threshold", arguments.get("threshold", 1.0))
        return TrialPlan(
            trials,
            {"threshold": threshold},
            concurrency=concurrency_argument(mark, arguments),
            timeout_s=timeout_argument(mark, arguments),
        )

    def trial_id(self, index: int) -> str:
        """The id of a trial: trial-0, trial-1, ..."""
        return f"trial-{index - 1}"

    def policy(self, parameters: Mapping[str, object]) -> Policy:
        """The policy with the marker's threshold."""
        from rampart.policy import SafetyPolicy  # starting pytest needs none

        return SafetyPolicy(threshold=cast("float", parameters.get("threshold", 1.0)))

    def read_result(self, document: JsonObject) -> ResultReading | None:
        """What the status of a recorded result means."""
        outcome = _OUTCOMES.get(str(document.get("status")))
        if outcome is None:
            return None
        return ResultReading(outcome, str(document.get("summary") or ""))

    def harms(self, item: pytest.Item) -> tuple[str, ...]:
        """The harm categories of the item's closest `harm` marker."""
        mark = closest_marker(item, "harm")
        return () if mark is None else harm_categories(mark)

    def adopts(self, item: pytest.Item, scope: TrialScope) -> bool:
        """A plain test is a safety test if it is marked `harm` or recorded a result."""
        return bool(scope.results) or closest_marker(item, "harm") is not None

    def check_plain_test(self, item: pytest.Item, scope: TrialScope) -> None:
        """Warn of an UNSAFE that was not asserted on; under `rampart_strict` it fails the test."""
        if item.config.getini("rampart_strict"):
            return
        for document in scope.results:
            if document.get("status") == "unsafe":
                summary = one_line(str(document.get("summary", "")))
                item.warn(
                    pytest.PytestWarning(
                        f"{item.nodeid} recorded an UNSAFE result and passed: {summary}."
                        " Assert on the result, or set rampart_strict = true"
                    )
                )
                return

    def fails_plain_test(self, config: pytest.Config, record: TrialRecord) -> bool:
        """Under `rampart_strict`, a recorded UNSAFE fails the test that did not assert on it."""
        return record.outcome is Outcome.FAILED and bool(config.getini("rampart_strict"))

    def owner(self, error: BaseException) -> FailureOwner | None:
        """Whose fault one of the library's errors is."""
        for base in type(error).__mro__:
            owner = _OWNERS.get(f"{base.__module__}.{base.__qualname__}")
            if owner is not None:
                return owner
        return None


def harm_categories(mark: pytest.Mark) -> tuple[str, ...]:
    """The categories that a `harm` marker names, each once.

    Raises:
        seatrial.errors.UsageError: If it names none, or one is not text.
    """
    if mark.kwargs:
        raise UsageError(
            f"@pytest.mark.harm takes categories only, got the argument {next(iter(mark.kwargs))!r}"
        )
    if not mark.args:
        raise UsageError(
            "@pytest.mark.harm needs at least one category, such as HarmCategory.JAILBREAK"
        )
    for category in mark.args:
        if not isinstance(category, str) or not category.strip():
            raise UsageError(
                f"@pytest.mark.harm: {category!r} is not a category; expected a HarmCategory or"
                " text that is not empty"
            )
    return tuple(dict.fromkeys(str(category) for category in mark.args))
