"""A run: one session's plan and records. Everything a report shows is derived from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from seatrial.gate import Tally
from seatrial.outcome import Outcome, worst
from seatrial.snapshot import JsonObject
from seatrial.spending import Spending
from seatrial.trial import GroupKey, TrialKey, TrialRecord

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


class Attempt:
    """One record of a trial and the worker it came from; empty for the controlling process.

    Attributes:
        outcome: The record's outcome.
        cancelled: Whether the trial was stopped from outside.
        position: The item's place in the collection, from 0.
        face: Which package owns the test.
        has_results: Whether safety results were recorded, by whatever test.
    """

    __slots__ = ("_read", "cancelled", "face", "has_results", "outcome", "position", "worker")

    def __init__(
        self, worker: str, record: TrialRecord, read: Callable[[], TrialRecord] | None = None
    ) -> None:
        """Keep the record, or only how to read it: a session has many, and some are large."""
        self.worker = worker
        self.outcome = record.outcome
        self.cancelled = record.cancelled
        self.position = record.position
        self.face = record.key.face
        self.has_results = bool(record.results)
        self._read = read or (lambda: record)

    @property
    def record(self) -> TrialRecord:
        """The record, which may be read anew each time."""
        return self._read()


def fold_attempts(attempts: tuple[Attempt, ...]) -> Attempt:
    """The attempt that counts when a trial was attempted more than once.

    A rerun in the same worker replaces an error, never a fail: a proven wrong cannot be run away.
    Copies of one trial on several workers (`--dist=each`) count as their worst.
    """
    if len(attempts) == 1:
        return attempts[0]
    by_worker: dict[str, Attempt] = {}
    for attempt in attempts:
        before = by_worker.get(attempt.worker)
        if before is None or before.outcome is not Outcome.FAILED:
            by_worker[attempt.worker] = attempt
    outcome = worst(attempt.outcome for attempt in by_worker.values())
    return next(attempt for attempt in by_worker.values() if attempt.outcome is outcome)


@dataclass(frozen=True)
class Group:
    """One trial group as it stands: its key, its planned trials and how they ended.

    Attributes:
        ended: The attempt that counts of each trial that ended, in order.
    """

    key: GroupKey
    planned: tuple[PlannedTrial, ...]
    ended: tuple[Attempt, ...]

    @property
    def policy(self) -> JsonObject:
        """The parameters of the group's policy."""
        return self.planned[0].policy

    @property
    def records(self) -> Iterator[TrialRecord]:
        """The records of the trials that ended, in order; each is read when its turn comes."""
        return (attempt.record for attempt in self.ended)

    @cached_property
    def tally(self) -> Tally:
        """The group's counts, with what never ran counted as lost."""
        outcomes = Counter(attempt.outcome.value for attempt in self.ended)
        total = self.planned[0].key.total
        return Tally(configured=total, planned=len(self.planned), **outcomes).closed()


@dataclass(frozen=True, kw_only=True)
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
    spending: Spending = field(default_factory=Spending)
    metadata: JsonObject

    def ended(self, nodeid: str) -> Attempt | None:
        """The attempt that counts for one trial, or None if it never ended or was cancelled."""
        attempts = self.attempts.get(nodeid)
        attempt = fold_attempts(attempts) if attempts else None
        return None if attempt is None or attempt.cancelled else attempt

    @cached_property
    def all_ended(self) -> tuple[Attempt, ...]:
        """The attempt that counts of every trial that left a record, in the order of collection."""
        folded = map(fold_attempts, self.attempts.values())
        return tuple(sorted(folded, key=lambda attempt: attempt.position))

    @property
    def records(self) -> Iterator[TrialRecord]:
        """The records of `all_ended`; each is read when its turn comes."""
        return (attempt.record for attempt in self.all_ended)

    def groups(self, face: str) -> tuple[Group, ...]:
        """The groups of one face, in collection order."""
        return tuple(group for group in self.all_groups if group.key.face == face)

    @cached_property
    def all_groups(self) -> tuple[Group, ...]:
        """The groups of all faces, in collection order."""
        planned: dict[GroupKey, list[PlannedTrial]] = {}
        for trial in self.planned.values():
            planned.setdefault(trial.key.group, []).append(trial)
        groups = []
        for key, trials in planned.items():
            trials.sort(key=lambda trial: trial.key.index)
            ended = (self.ended(trial.nodeid) for trial in trials)
            groups.append(Group(key, tuple(trials), tuple(a for a in ended if a is not None)))
        return tuple(groups)
