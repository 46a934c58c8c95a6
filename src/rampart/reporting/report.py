"""A finished run, as sinks get to see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rampart.core.result import Result, SafetyStatus
from rampart.summary import UNCATEGORIZED
from rampart.utility import UtilitySummary

__all__ = ["PopulationSummary", "TestRunReport", "TrialGroupResult"]


@dataclass(frozen=True, kw_only=True)
class PopulationSummary:
    """Counts of results.

    Attributes:
        attack_success_rate: UNSAFE among the results that are no ERROR, in [0, 1]; 0.0 if there
            are none.
        safety_pass_rate: SAFE among the same. The two need not add up to 1: UNDETERMINED is
            in neither.
    """

    total_runs: int
    safe_count: int
    unsafe_count: int
    undetermined_count: int
    error_count: int
    attack_success_rate: float
    safety_pass_rate: float

    @property
    def has_failures(self) -> bool:
        """Whether anything was UNSAFE."""
        return self.unsafe_count > 0

    @property
    def is_clean_run(self) -> bool:
        """Whether everything was SAFE; true of an empty run."""
        return self.safe_count == self.total_runs


@dataclass(frozen=True, kw_only=True)
class TrialGroupResult:
    """One test's trials and their verdict.

    Attributes:
        name: The test's name with its parameters, without the trial.
        nodeid: Its node id, which tells tests of the same name apart.
        total: Trials that count: the sum of the next five.
        lost: Planned trials that something kept from ending; they are not SAFE.
        threshold: Least share of SAFE trials to pass, in (0, 1].
        passed: None if no trial counts, so that there is no verdict.

    Raises:
        ValueError: If the numbers do not add up.
    """

    name: str
    nodeid: str = ""
    total: int
    safe: int
    unsafe: int = 0
    undetermined: int = 0
    errors: int = 0
    lost: int = 0
    threshold: float
    passed: bool | None
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parts = self.safe + self.unsafe + self.undetermined + self.errors + self.lost
        if parts != self.total:
            raise ValueError(f"{self.name}: the parts add up to {parts}, not to {self.total}")

    @property
    def pass_rate(self) -> float:
        """SAFE among those that count, in [0, 1]; 0.0 if there are none."""
        return self.safe / self.total if self.total else 0.0


@dataclass(kw_only=True)
class TestRunReport:
    """All results of a run. A report made by hand keeps the counters it is given.

    Attributes:
        results: Every recorded result, each once.
        trial_groups: The groups that have a verdict.
        duration_seconds: Wall time of the run.
        metadata: What else is known of the run; `incomplete` and why, if it is.
    """

    __test__ = False  # for pytest, which would take the name for a test class

    results: list[Result] = field(default_factory=list)
    total_runs: int = 0
    passed: int = 0
    failed: int = 0
    undetermined: int = 0
    errors: int = 0
    duration_seconds: float = 0.0
    metadata: dict[str, Any] = field(default_factory=dict)
    trial_groups: list[TrialGroupResult] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        results: list[Result],
        *,
        duration_seconds: float = 0.0,
        metadata: dict[str, Any] | None = None,
        trial_groups: list[TrialGroupResult] | None = None,
    ) -> TestRunReport:
        """The report of a run, its counters those of `results`."""
        report = cls(
            results=results,
            duration_seconds=duration_seconds,
            metadata=metadata or {},
            trial_groups=trial_groups or [],
        )
        counts = report.population_summary()
        report.total_runs = counts.total_runs
        report.passed = counts.safe_count
        report.failed = counts.unsafe_count
        report.undetermined = counts.undetermined_count
        report.errors = counts.error_count
        return report

    def by_harm_category(self) -> dict[str, list[Result]]:
        """The results under each of their categories, in order of first appearance.

        Those without one are under "uncategorized".
        """
        grouped: dict[str, list[Result]] = {}
        for result in self.results:
            for category in _categories(result):
                grouped.setdefault(category, []).append(result)
        return grouped

    def population_summary(self, *, harm_category: str | None = None) -> PopulationSummary:
        """Counts of all results, each once, or of those of one category."""
        counted = [
            result
            for result in self.results
            if harm_category is None or harm_category in _categories(result)
        ]
        safe, unsafe, undetermined, errors = (
            sum(result.status is status for result in counted)
            for status in (
                SafetyStatus.SAFE,
                SafetyStatus.UNSAFE,
                SafetyStatus.UNDETERMINED,
                SafetyStatus.ERROR,
            )
        )
        judged = len(counted) - errors
        return PopulationSummary(
            total_runs=len(counted),
            safe_count=safe,
            unsafe_count=unsafe,
            undetermined_count=undetermined,
            error_count=errors,
            attack_success_rate=unsafe / judged if judged else 0.0,
            safety_pass_rate=safe / judged if judged else 0.0,
        )

    def utility_summary(self) -> UtilitySummary | None:
        """Security and utility of the results that state their utility; None if none does."""
        return UtilitySummary.of((result.status, result.metadata) for result in self.results)


def _categories(result: Result) -> tuple[str, ...]:
    return result.harm_categories or (UNCATEGORIZED,)
