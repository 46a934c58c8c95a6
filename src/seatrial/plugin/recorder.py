"""The recorder: everything that has been heard of a run so far, group by group."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from seatrial.codec import (
    dump_amendment,
    dump_plan,
    dump_record,
    load_amendment,
    load_plan,
    load_record,
)
from seatrial.errors import CodecError
from seatrial.gate import Tally
from seatrial.outcome import FailureOwner, Outcome
from seatrial.plugin import carry
from seatrial.plugin.faces import face_named
from seatrial.plugin.model_options import max_cost_usd
from seatrial.plugin.plan import find_planned
from seatrial.plugin.run_journal import RunJournal
from seatrial.plugin.stopping import stop_session
from seatrial.run import Attempt, PlannedTrial, Run, fold_attempts
from seatrial.snapshot import JsonObject
from seatrial.spending import Spending
from seatrial.text import one_line
from seatrial.trial import Amendment, Failure, GroupKey, TrialRecord

__all__ = ["Recorder"]

_SHOWN_MISSING = 20


class Recorder:
    """Collects plans and records, writes the journal, and knows each group's tally."""

    def __init__(self, config: pytest.Config, run_id: str | None, started_at: float) -> None:
        """Record the session of `config`, begun at that Unix time, under `run_id` or that time."""
        self._config = config
        self.started_at = started_at
        started = datetime.fromtimestamp(self.started_at, UTC)
        self.run_id = run_id or started.strftime("%Y%m%dT%H%M%S%f")
        self.planned: dict[str, PlannedTrial] = {}
        self.problems: list[str] = []
        self._attempts: dict[str, tuple[Attempt, ...]] = {}
        self._tallies: dict[GroupKey, Tally] = {}
        self._incomplete: list[str] = []
        self._max_cost_usd = max_cost_usd(config)
        self._spending = Spending()
        self._plan_known = False
        self._started_early: list[str] = []
        self._crashed_early: list[tuple[str, pytest.TestReport]] = []
        self._journal = RunJournal(config, self.run_id)

    # -- the plan -----------------------------------------------------------------------

    def plan(self, trials: Iterable[PlannedTrial]) -> None:
        """Add trials that the session selected; those already known change nothing."""
        self._plan_known = True
        added = [trial for trial in trials if trial.nodeid not in self.planned]
        self.planned.update((trial.nodeid, trial) for trial in added)
        for (group, total), count in Counter((t.key.group, t.key.total) for t in added).items():
            tally = self._tallies.get(group) or Tally(configured=total, planned=0)
            self._tallies[group] = replace(tally, planned=tally.planned + count)
        if added:
            self._journal.append(dump_plan(tuple(added)), "the plan")
            while self._started_early:
                self._journal.started(self._started_early.pop(0))
            while self._crashed_early:
                self._crashed(*self._crashed_early.pop(0))

    def plan_from_worker(self, text: str) -> None:
        """Add the plan that a worker's first report carried."""
        self._plan_known = True
        try:
            self.plan(load_plan(text))
        except CodecError as error:
            self._incomplete.append(f"a worker's plan could not be read: {error}")

    # -- records ------------------------------------------------------------------------

    def started(self, nodeid: str) -> None:
        """Note in the journal that a trial begins."""
        if self.planned:
            self._journal.started(nodeid)
        elif not self._plan_known:
            # A worker announces its first trial before its plan.
            self._started_early.append(nodeid)

    def receive(self, report: pytest.TestReport) -> None:
        """Keep what a report carries; a report that carries nothing changes nothing."""
        worker = getattr(getattr(report, "node", None), "gateway", None)
        name = "" if worker is None else str(worker.id)
        text = carry.take_record(report)
        if text is not None:
            self._keep(name, report, text)
        amendment = carry.take_amendment(report)
        if amendment is not None:
            self._amend(name, report, amendment)
        if report.when not in ("setup", "call", "teardown"):
            self._crashed(name, report)

    def _keep(self, worker: str, report: pytest.TestReport, text: str) -> None:
        try:
            record = carry.read_record(text)
        except CodecError as error:
            self._incomplete.append(f"the record of {report.nodeid} could not be read: {error}")
            return
        self._journal.append(text, report.nodeid)
        self._spend(record)
        attempt = Attempt(worker, record, partial(load_record, text))
        before = self._attempts.get(record.nodeid, ())
        attempts = self._attempts[record.nodeid] = (*before, attempt)
        self._move(record.key.group, before, attempts)
        own = fold_attempts(tuple(attempt for attempt in attempts if attempt.worker == worker))
        if own is not attempt and report.outcome in ("passed", "skipped"):
            self._overrule(report, own.record)

    def _overrule(self, report: pytest.TestReport, proven: TrialRecord) -> None:
        """Fail a rerun that would hide what an earlier attempt proved."""
        face = face_named(self._config, proven.key.face)
        word = proven.outcome.value if face is None else face.reason(proven)
        carry.overrule(report, f"attempt {proven.attempt} was {word}; a rerun cannot undo it")

    def _amend(self, worker: str, report: pytest.TestReport, text: str) -> None:
        try:
            amendment = load_amendment(text)
        except CodecError as error:
            self._incomplete.append(f"the tear-down of {report.nodeid} could not be read: {error}")
            return
        self._journal.append(text, report.nodeid)
        self._spend(amendment)
        before = self._attempts.get(amendment.nodeid, ())
        for place in reversed(range(len(before))):
            if before[place].worker == worker:
                amended = before[place].record.amended(amendment)
                after = (*before[:place], Attempt(worker, amended), *before[place + 1 :])
                self._attempts[amendment.nodeid] = after
                self._move(amended.key.group, before, after)
                return

    def _spend(self, part: TrialRecord | Amendment) -> None:
        """Count what it cost, and stop the session when that is too much."""
        before, self._spending = self._spending, self._spending.plus(part)
        most = self._max_cost_usd
        if most is None or self._spending is before or not before.known_usd < most:
            return
        spent = self._spending.known_usd
        if spent >= most:
            unpriced = self._spending.unpriced
            more = f", and {unpriced} calls of unknown price" if unpriced else ""
            reason = f"the cost limit of ${most:g} is reached: ${spent:.4f} spent{more}"
            self._incomplete.append(reason)
            stop_session(self._config, reason)

    def _crashed(self, worker: str, report: pytest.TestReport) -> None:
        """Record that a worker died under a trial, or under its tear-down."""
        planned = find_planned(self.planned, report.nodeid)
        if planned is None:
            if not self._plan_known:
                self._crashed_early.append((worker, report))
            return
        report.nodeid = planned.nodeid  # xdist's may carry the name of a group
        self._incomplete.append(f"{one_line(planned.nodeid, limit=200)} was lost with its worker")
        failure = Failure(
            owner=FailureOwner.INFRASTRUCTURE, kind="crash", message=str(report.longrepr)
        )
        attempts = self._attempts.get(planned.nodeid, ())
        if any(attempt.worker == worker for attempt in attempts):
            amendment = Amendment(nodeid=planned.nodeid, outcome=Outcome.ERROR, failure=failure)
            self._amend(worker, report, dump_amendment(amendment))
            return
        record = TrialRecord(
            key=planned.key,
            nodeid=planned.nodeid,
            outcome=Outcome.ERROR,
            failure=failure,
            position=planned.position,
        )
        self._keep(worker, report, dump_record(record))

    def _move(
        self, group: GroupKey, before: tuple[Attempt, ...], after: tuple[Attempt, ...]
    ) -> None:
        tally = self._tallies.get(group)
        if tally is not None:
            self._tallies[group] = tally.moved(_outcome(before), _outcome(after))

    def can_pass(self, nodeid: str) -> bool:
        """Whether the group of a trial may still pass."""
        planned = find_planned(self.planned, nodeid)
        face = face_named(self._config, planned.key.face) if planned is not None else None
        if planned is None or face is None:
            return True
        return face.policy(planned.policy).can_pass(self._tallies[planned.key.group])

    # -- the end ------------------------------------------------------------------------

    def worker_died(self, worker: str, error: str) -> None:
        """Note that an xdist worker ended other than by itself."""
        self._incomplete.append(f"worker {worker} died: {one_line(error)}")

    def finish(self, why_stopped: str, collected: Iterable[str]) -> Run:
        """The finished run. Planned trials without a record make it incomplete."""
        incomplete = list(self._incomplete)
        missing = [
            nodeid for nodeid in self.planned if _outcome(self._attempts.get(nodeid, ())) is None
        ]
        if not self._involved():
            incomplete = []
            if self._incomplete and not self._plan_known:
                incomplete = [*self._incomplete, _list_missing(tuple(collected), why_stopped)]
        elif missing:
            incomplete.append(_list_missing(tuple(missing), why_stopped))
        self._journal.close()
        self.problems.extend(self._journal.problems)
        return Run(
            run_id=self.run_id,
            started_at=self.started_at,
            duration_s=time.time() - self.started_at,
            planned=self.planned,
            attempts=self._attempts,
            incomplete=tuple(dict.fromkeys(incomplete)),
            spending=self._spending,
            metadata=_metadata(self._config),
        )

    def _involved(self) -> bool:
        return bool(self.planned or self._attempts)


def _outcome(attempts: tuple[Attempt, ...]) -> Outcome | None:
    """What a trial counts as; None if it never ended or was cancelled."""
    counted = fold_attempts(attempts) if attempts else None
    return None if counted is None or counted.cancelled else counted.outcome


def _list_missing(nodeids: tuple[str, ...], why: str) -> str:
    shown = ", ".join(one_line(nodeid, limit=200) for nodeid in nodeids[:_SHOWN_MISSING])
    more = len(nodeids) - _SHOWN_MISSING
    rest = f" and {more} more" if more > 0 else ""
    noun = "trial" if len(nodeids) == 1 else "trials"
    return f"{len(nodeids)} planned {noun} never ended ({one_line(why)}): {shown}{rest}"


def _metadata(config: pytest.Config) -> JsonObject:
    workers = getattr(config.option, "tx", None)
    if not workers or getattr(config.option, "dist", "no") == "no":
        return {}
    return {
        "xdist_active": True,
        "worker_count": len(workers),
        "dist_mode": str(config.option.dist),
    }
