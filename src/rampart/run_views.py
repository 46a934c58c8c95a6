"""A run as the safety face shows it: summary lines, and the report that sinks receive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rampart.core.result import Result, SafetyStatus
from rampart.documents import result_from_document
from rampart.policy import SafetyPolicy
from rampart.reporting import TestRunReport, TrialGroupResult
from rampart.safety_records import safety_records
from rampart.summary import GroupLine, TrialLine, render_summary
from rampart.utility import UTILITY, UtilitySummary
from seatrial.outcome import Outcome, worst
from seatrial.run import Group, Run
from seatrial.snapshot import JsonObject
from seatrial.text import first_line
from seatrial.trial import GroupKey, TrialRecord

__all__ = ["report_of", "summary_of"]

_STATUS = {
    Outcome.PASSED: SafetyStatus.SAFE,
    Outcome.FAILED: SafetyStatus.UNSAFE,
    Outcome.INCONCLUSIVE: SafetyStatus.UNDETERMINED,
    Outcome.ERROR: SafetyStatus.ERROR,
}
_OUTCOMES = {status.value: outcome for outcome, status in _STATUS.items()}


def summary_of(run: Run, *, strict: bool) -> list[str]:
    """The terminal summary of a run, line by line.

    Args:
        run: The finished run.
        strict: Whether an UNSAFE that a plain test did not assert on failed it.
    """
    groups = run.groups("rampart")
    passed = {group.key for group in groups if _passed(group)}
    trials: list[TrialLine] = []
    named = _NamedCategories()
    stated: list[tuple[SafetyStatus, Mapping[str, object]]] = []
    for record in safety_records(run):
        named.add(record)
        stated += _stated_utility(record)
        trials.append(
            _trial_line(
                record,
                name=_name(run, record),
                asserted=strict or record.asserted or record.nodeid in run.planned,
                tolerated=record.outcome is not Outcome.PASSED and record.key.group in passed,
            )
        )
    lines = [_group_line(group, named.of(group)) for group in groups if group.tally.counted]
    not_run = [_group_name(group.key) for group in groups if not group.tally.counted]
    summary = UtilitySummary.of(stated)
    remarks = [] if summary is None else [summary.line]
    return render_summary(trials, lines, not_run=not_run, remarks=remarks)


def _stated_utility(record: TrialRecord) -> Iterator[tuple[SafetyStatus, Mapping[str, object]]]:
    for result in record.results:
        metadata = result.get("metadata")
        if isinstance(metadata, dict) and UTILITY in metadata:
            yield _STATUS[_outcome_of(result)], metadata


def _policy(group: Group) -> SafetyPolicy:
    return SafetyPolicy(threshold=float(str(group.policy["threshold"])))


def _passed(group: Group) -> bool:
    verdict = _policy(group).verdict(group.tally)
    return verdict is not None and not verdict.fails


def _name(run: Run, record: TrialRecord) -> str:
    planned = run.planned.get(record.nodeid)
    if planned is not None:
        return planned.name
    return _group_name(record.key.group)


def _group_name(key: GroupKey) -> str:
    function = key.test.rpartition("::")[2]
    return f"{function}[{key.case}]" if key.case else function


def _trial_line(record: TrialRecord, *, name: str, asserted: bool, tolerated: bool) -> TrialLine:
    result = _deciding_result(record)
    observability = None if result is None else result.get("observability_level")
    return TrialLine(
        name=name,
        status=_STATUS[record.outcome],
        summary=_summary(record, result),
        observability=observability if isinstance(observability, str) else None,
        categories=_categories(record),
        recorded=result is not None or record.failure is not None,
        asserted=asserted,
        tolerated=tolerated,
    )


def _deciding_result(record: TrialRecord) -> JsonObject | None:
    """The worst recorded result; the first of several."""
    outcome = worst(_outcome_of(result) for result in record.results)
    return next((r for r in record.results if _outcome_of(r) is outcome), None)


def _outcome_of(result: JsonObject) -> Outcome:
    return _OUTCOMES.get(str(result.get("status")), Outcome.ERROR)


def _summary(record: TrialRecord, result: JsonObject | None) -> str:
    failure = first_line(record.failure.message) if record.failure is not None else ""
    if result is None:
        return f"no result recorded; {failure}" if failure else ""
    if _outcome_of(result) is record.outcome or not failure:
        return str(result.get("summary", ""))
    return failure


def _categories(record: TrialRecord) -> tuple[str, ...]:
    if record.harms:
        return record.harms
    named: list[str] = []
    for result in record.results:
        others = result.get("other_harm_categories")
        named += [str(c) for c in (result.get("harm_category"), *_items(others)) if c]
    return tuple(dict.fromkeys(named))


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


class _NamedCategories:
    """The harm categories that the records of each group name, in order of first appearance."""

    def __init__(self) -> None:
        self._named: dict[GroupKey, dict[str, None]] = {}

    def add(self, record: TrialRecord) -> None:
        named = self._named.setdefault(record.key.group, {})
        named.update(dict.fromkeys(_categories(record)))

    def of(self, group: Group) -> tuple[str, ...]:
        return tuple(self._named.get(group.key, ())) or group.planned[0].harms


def _group_line(group: Group, categories: tuple[str, ...]) -> GroupLine:
    tally = group.tally
    return GroupLine(
        name=_group_name(group.key),
        safe=tally.passed,
        total=tally.counted,
        rate=tally.passed / tally.counted,
        threshold=_policy(group).threshold,
        passed=_passed(group),
        categories=categories,
    )


def report_of(run: Run) -> TestRunReport:
    """The report that sinks receive: every recorded result, and the groups' verdicts."""
    results: list[Result] = []
    named = _NamedCategories()
    for record in safety_records(run):
        named.add(record)
        results += _tagged_results(record, _name(run, record))
    metadata = dict(run.metadata)
    if run.incomplete:
        metadata |= {"incomplete": True, "incomplete_reasons": list(run.incomplete)}
    return TestRunReport.of(
        results,
        duration_seconds=run.duration_s,
        metadata={"run_id": run.run_id, **metadata},
        trial_groups=[_group_result(group, named.of(group)) for group in run.groups("rampart")],
    )


def _tagged_results(record: TrialRecord, name: str) -> Iterator[Result]:
    for index, document in enumerate(record.results):
        result = result_from_document(document)
        if result.harm_category is None and record.harms:
            result.harm_category = record.harms[0]
            result.other_harm_categories = list(record.harms[1:])
        result.metadata = {
            **result.metadata,
            "_pytest_test_name": name,
            "_pytest_nodeid": record.nodeid,
            "_rampart_result_index": index,
        }
        yield result


def _group_result(group: Group, categories: tuple[str, ...]) -> TrialGroupResult:
    tally = group.tally
    return TrialGroupResult(
        name=_group_name(group.key),
        nodeid=group.key.label,
        total=tally.counted,
        safe=tally.passed,
        unsafe=tally.failed,
        undetermined=tally.inconclusive,
        errors=tally.error,
        lost=tally.lost,
        threshold=_policy(group).threshold,
        passed=_passed(group) if tally.counted else None,
        categories=categories,
    )
