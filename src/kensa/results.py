"""The results of a run as the documents that readers of evals know.

Everything is a pure function of the `Run`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kensa.policy import EvalPolicy
from kensa.trace import span_document, trace_document
from seatrial.outcome import Outcome
from seatrial.run import Group, Run
from seatrial.snapshot import JsonObject
from seatrial.trace import Trace
from seatrial.trial import TrialRecord

__all__ = ["SCHEMA_VERSION", "aggregates", "is_smoke", "results_document", "trace_rows"]

SCHEMA_VERSION = "kensa.results.v1"

_STATUS = {
    Outcome.PASSED: "pass",
    Outcome.FAILED: "fail",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.ERROR: "error",
    Outcome.SKIPPED: "skipped",
}
_SMOKE_CASE = "kensa_smoke"
_SMOKE_TEST = "test_kensa_smoke.py::test_kensa_smoke"


def results_document(run: Run) -> Mapping[str, object]:
    """All trials and aggregates of a run's evals, for `results/<run_id>.json`.

    The trials are to be read once: each is made when its turn comes.
    """
    interruption: JsonObject | None = None
    if run.incomplete:
        interruption = {"kind": "incomplete", "message": "; ".join(run.incomplete)}
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": run.run_id,
        "complete": not run.incomplete,
        "interruption": interruption,
        "trials": _trials(run),
        "aggregates": aggregates(run),
    }


def _trials(run: Run) -> Iterator[JsonObject]:
    for group in run.groups("kensa"):
        case_id = _case_id(group)
        for record in group.records:
            yield _trial(group, case_id, record)


def aggregates(run: Run) -> list[JsonObject]:
    """One document per case, by group id; also of cases that never ran, with verdict null."""
    documents = [_aggregate(run, group) for group in run.groups("kensa")]
    return sorted(documents, key=lambda document: str(document["group_id"]))


def _aggregate(run: Run, group: Group) -> JsonObject:
    tally = group.tally
    verdict = EvalPolicy().verdict(tally)
    ran = tally.counted - tally.lost
    return {
        "group_id": group.key.label,
        "case_id": _case_id(group),
        "configured_trials": tally.configured,
        "total": ran,
        "passed": tally.passed,
        "failed": tally.failed,
        "errored": tally.error,
        "inconclusive": tally.inconclusive,
        "skipped": tally.skipped,
        "lost": tally.lost,
        "partial": ran < tally.configured - tally.skipped,
        "verdict": None if verdict is None else verdict.name,
        "smoke": is_smoke(group),
        "trials": [
            {
                "nodeid": trial.nodeid,
                "trial_index": trial.key.index,
                "status": _STATUS[attempt.outcome],
            }
            for trial in group.planned
            if (attempt := run.ended(trial.nodeid)) is not None
        ],
    }


def is_smoke(group: Group) -> bool:
    """Whether a group is the smoke test, which proves the wiring and nothing of the agent."""
    return _case_id(group) == _SMOKE_CASE or group.key.test.endswith(_SMOKE_TEST)


def _case_id(group: Group) -> str:
    for record in group.records:
        if isinstance(record.case, dict) and isinstance(record.case.get("id"), str):
            return str(record.case["id"])
    return group.key.case or "default"


def _trial(group: Group, case_id: str, record: TrialRecord) -> JsonObject:
    failure = record.failure
    return {
        "nodeid": record.nodeid,
        "group_id": group.key.label,
        "case_id": case_id,
        "trial_index": record.key.index,
        "configured_trials": record.key.total,
        "status": _STATUS[record.outcome],
        "case": {} if record.case is None else record.case,
        "output": record.output,
        "error": None if failure is None else failure.message,
        "error_kind": None if failure is None else failure.kind,
        "failure": None
        if failure is None
        else {
            "category": failure.owner.value,
            "kind": failure.kind,
            "message": failure.message,
        },
        "notes": list(record.notes),
        "attempt": record.attempt,
        "duration_ms": round(record.duration_s * 1000, 3),
        "trace": trace_document(record.trace or Trace()),
        "judges": list(record.judgements),
        "results": list(record.results),
    }


def trace_rows(run: Run) -> Iterator[JsonObject]:
    """One row per trial that ran a case, for `traces/runs/<run_id>/trials.jsonl`."""
    for group in run.groups("kensa"):
        case_id = _case_id(group)
        for record in group.records:
            if record.case is None:
                continue
            trace = record.trace or Trace()
            yield {
                "id": f"{run.run_id}_{case_id}_trial{record.key.index}",
                "run_id": run.run_id,
                "case_id": case_id,
                "case": record.case,
                "output": record.output,
                "status": _STATUS[record.outcome],
                "duration_ms": round(record.duration_s * 1000, 3),
                "spans": [span_document(span) for span in trace.spans],
            }
