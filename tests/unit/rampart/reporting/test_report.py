from __future__ import annotations

import pytest

from rampart import HarmCategory, Result, SafetyStatus
from rampart.reporting import (
    JsonFileReportSink,
    PopulationSummary,
    ReportSink,
    TestRunReport,
    TrialGroupResult,
)

SAFE, UNSAFE = SafetyStatus.SAFE, SafetyStatus.UNSAFE
UNDETERMINED, ERROR = SafetyStatus.UNDETERMINED, SafetyStatus.ERROR


def results(*statuses: SafetyStatus, category: str | None = None) -> list[Result]:
    return [Result(status=status, summary="x", harm_category=category) for status in statuses]


def test_a_population_counts_and_leaves_errors_out_of_its_rates() -> None:
    report = TestRunReport(results=results(SAFE, SAFE, UNSAFE, UNDETERMINED, ERROR, ERROR))
    assert report.population_summary() == PopulationSummary(
        total_runs=6,
        safe_count=2,
        unsafe_count=1,
        undetermined_count=1,
        error_count=2,
        attack_success_rate=0.25,
        safety_pass_rate=0.5,
    )


@pytest.mark.parametrize("statuses", [(), (ERROR, ERROR)])
def test_rates_of_nothing_are_zero(statuses: tuple[SafetyStatus, ...]) -> None:
    summary = TestRunReport(results=results(*statuses)).population_summary()
    assert (summary.attack_success_rate, summary.safety_pass_rate) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("statuses", "failures", "clean"),
    [
        ((), False, True),
        ((SAFE,), False, True),
        ((SAFE, UNSAFE), True, False),
        ((SAFE, UNDETERMINED), False, False),
        ((SAFE, ERROR), False, False),
    ],
)
def test_a_population_knows_whether_it_is_clean(
    statuses: tuple[SafetyStatus, ...], failures: bool, clean: bool
) -> None:
    summary = TestRunReport(results=results(*statuses)).population_summary()
    assert (summary.has_failures, summary.is_clean_run) == (failures, clean)


def test_categories_group_results_in_order_of_appearance_as_plain_text() -> None:
    (plain,) = results(SAFE)
    (jailbreak,) = results(SAFE, category=HarmCategory.JAILBREAK)
    both = Result(
        status=UNSAFE, summary="x", harm_category="custom", other_harm_categories=["jailbreak"]
    )
    report = TestRunReport(results=[plain, jailbreak, both])
    grouped = report.by_harm_category()
    assert grouped == {
        "uncategorized": [plain],
        "jailbreak": [jailbreak, both],
        "custom": [both],
    }
    assert all(type(category) is str for category in grouped)
    assert report.population_summary().total_runs == 3


def test_a_population_can_be_that_of_one_category() -> None:
    report = TestRunReport(
        results=[*results(SAFE), *results(UNSAFE, category=HarmCategory.JAILBREAK)]
    )
    counts = [
        report.population_summary(harm_category=category).total_runs
        for category in (HarmCategory.JAILBREAK, "jailbreak", "uncategorized", "other")
    ]
    assert counts == [1, 1, 1, 0]


def test_a_report_of_results_counts_them() -> None:
    group = TrialGroupResult(name="t", total=1, safe=1, threshold=1.0, passed=True)
    report = TestRunReport.of(
        results(SAFE, SAFE, UNSAFE, UNDETERMINED, ERROR),
        duration_seconds=2.0,
        metadata={"a": 1},
        trial_groups=[group],
    )
    assert (report.total_runs, report.passed, report.failed) == (5, 2, 1)
    assert (report.undetermined, report.errors, report.duration_seconds) == (1, 1, 2.0)
    assert (report.metadata, report.trial_groups) == ({"a": 1}, [group])


def test_a_report_made_by_hand_keeps_its_counters() -> None:
    assert TestRunReport(results=results(SAFE)).total_runs == 0


def test_a_group_has_a_rate_and_adds_up() -> None:
    group = TrialGroupResult(name="t", total=5, safe=2, lost=3, threshold=0.5, passed=False)
    assert group.pass_rate == 0.4
    nothing = TrialGroupResult(name="t", total=0, safe=0, threshold=1.0, passed=None)
    assert nothing.pass_rate == 0.0
    with pytest.raises(ValueError, match="t: the parts add up to 2, not to 3"):
        TrialGroupResult(name="t", total=3, safe=1, errors=1, threshold=1.0, passed=False)


def test_what_emits_is_a_sink() -> None:
    class Mine:
        async def emit_async(self, *, report: TestRunReport) -> None: ...

    assert isinstance(Mine(), ReportSink)
    assert isinstance(JsonFileReportSink(output_dir="x"), ReportSink)
    assert not isinstance(object(), ReportSink)
