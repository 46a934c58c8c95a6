"""A run: one session's plan and records. Everything a report shows is derived from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seatrial.gate import Tally
from seatrial.snapshot import JsonObject
from seatrial.trial import GroupKey, Outcome, TrialKey, TrialRecord, worst

__all__ = ["Attempt", "Group", "PlannedTrial", "Run", "fold_attempts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """A trial that the session selected.

    Attributes:
        nodeid: pytest's name of the item, as `--lf` and the command line know it.
        policy: The parameters of the group's policy, as its face wrote them.
        name: The trial as its face's summary shows it.
        harms: Harm categories that the test is marked with; known even if the trial never runs.
        position: The item's place in the collection, from 0.
    """

    nodeid: str
    key: TrialKey
    name: str
    policy: JsonObject
    harms: tuple[str, ...] = ()
    position: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """One record of a trial and the worker it came from; empty for the controlling process."""

    worker: str
    record: TrialRecord


def fold_attempts(attempts: tuple[Attempt, ...]) -> TrialRecord:
    """The record that counts when a trial was attempted more than once.

    A rerun in the same worker replaces an error, never a fail: a proven wrong cannot be run away.
    Copies of one trial on several workers (`--dist=each`) count as their worst.
    """
    by_worker: dict[str, TrialRecord] = {}
    for attempt in attempts:
        before = by_worker.get(attempt.worker)
        if before is None or before.outcome is not Outcome.FAILED:
            by_worker[attempt.worker] = attempt.record
    outcome = worst(record.outcome for record in by_worker.values())
    return next(record for record in by_worker.values() if record.outcome is outcome)


@dataclass(frozen=True, slots=True)
class Group:
    """One trial group as it stands: its key, its planned trials and how they ended."""

    key: GroupKey
    planned: tuple[PlannedTrial, ...]
    records: tuple[TrialRecord, ...]

    @property
    def policy(self) -> JsonObject:
        """The parameters of the group's policy."""
        return self.planned[0].policy

    @property
    def tally(self) -> Tally:
        """The group's counts, with what never ran counted as lost."""
        tally = Tally(configured=self.planned[0].key.total, planned=len(self.planned))
        for record in self.records:
            tally = tally.moved(None, record.outcome)
        return tally.closed()

    @property
    def missing(self) -> tuple[PlannedTrial, ...]:
        """Planned trials without a record, in order."""
        seen = {record.nodeid for record in self.records}
        return tuple(trial for trial in self.planned if trial.nodeid not in seen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One session: what was planned and what each trial left.

    Attributes:
        run_id: Names the run's files.
        started_at: Unix time in seconds.
        duration_s: Wall time of the session so far, in seconds.
        planned: The selected trials by node id, in collection order.
        attempts: All records of each trial by node id; more than one after reruns.
        incomplete: Why trials are missing; empty for a complete run.
        metadata: Facts about the session: xdist's mode and workers.
    """

    run_id: str
    started_at: float
    duration_s: float
    planned: Mapping[str, PlannedTrial]
    attempts: Mapping[str, tuple[Attempt, ...]]
    incomplete: tuple[str, ...] = ()
    metadata: JsonObject

    def record(self, nodeid: str) -> TrialRecord | None:
        """The record that counts for one trial, or None if it never ended or was cancelled."""
        attempts = self.attempts.get(nodeid)
        record = fold_attempts(attempts) if attempts else None
        return None if record is None or record.cancelled else record

    @property
    def records(self) -> tuple[TrialRecord, ...]:
        """The record that counts of every trial that ended, in the order of collection."""
        folded = [fold_attempts(attempts) for attempts in self.attempts.values()]
        return tuple(sorted(folded, key=lambda record: record.position))

    def groups(self, face: str) -> tuple[Group, ...]:
        """The groups of one face, in collection order."""
        planned: dict[GroupKey, list[PlannedTrial]] = {}
        for trial in self.planned.values():
            if trial.key.face == face:
                planned.setdefault(trial.key.group, []).append(trial)
        groups = []
        for key, trials in planned.items():
            trials.sort(key=lambda trial: trial.key.index)
            records = (self.record(trial.nodeid) for trial in trials)
            groups.append(Group(key, tuple(trials), tuple(r for r in records if r is not None)))
        return tuple(groups)
