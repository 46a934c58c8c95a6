"""Trials and their records: what one execution of one test on one case was, and left behind.

A `TrialRecord` is the only form in which a result leaves the process that made it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from seatrial.errors import RecordError
from seatrial.outcome import FailureOwner, Outcome, severity
from seatrial.snapshot import Json, JsonObject
from seatrial.trace import Trace

__all__ = [
    "Amendment",
    "Failure",
    "GroupKey",
    "TrialKey",
    "TrialRecord",
]


@dataclass(frozen=True, slots=True)
class GroupKey:
    """All trials of one test and case share one of these."""

    face: str
    test: str
    case: str

    @property
    def label(self) -> str:
        """The group as a reader knows it: the test's node id with its case, without the trial."""
        return f"{self.test}[{self.case}]" if self.case else self.test


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialKey:
    """Who a trial is. Built once, at collection, then carried; never parsed from a node id.

    Attributes:
        face: Which package owns the test: "rampart" or "kensa".
        test: The test function's node id, without parameters.
        case: The id that pytest gave the test's own parameters; empty without parameters.
        index: 1-based place among the trials of its group.
        total: How many trials the group was configured to have.
    """

    face: str
    test: str
    case: str
    index: int
    total: int

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.total:
            raise RecordError(
                f"trial index {self.index} is outside 1..{self.total} ({self.test}, {self.case})"
            )

    @property
    def group(self) -> GroupKey:
        """The group that this trial counts towards."""
        return GroupKey(self.face, self.test, self.case)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a trial did not pass.

    Attributes:
        owner: Whose fault it is.
        kind: Where it showed: "assertion", "exception", "timeout", "setup", "teardown", "judge",
            "trace", "result", "crash" or "cancelled".
        message: What was said, for a reader; hostile until escaped.
    """

    owner: FailureOwner
    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """What a trial's tear-down adds to the record that its call already left.

    Attributes:
        nodeid: The trial that it belongs to.
        outcome: The worst that the tear-down showed.
        failure: The failing tear-down, if it failed.
        results: Safety results recorded during tear-down, as JSON documents.
        model_calls: What models were asked in it.
    """

    nodeid: str
    outcome: Outcome
    failure: Failure | None = None
    results: tuple[JsonObject, ...] = ()
    model_calls: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """All that one finished trial leaves.

    Attributes:
        key: Who the trial is.
        nodeid: pytest's name for the item, for readers and `--lf` only.
        outcome: What the trial showed, all evidence considered.
        failure: Why it did not pass; None for passed trials.
        results: Safety results recorded during the trial, oldest first, as JSON documents.
        judgements: What judges said, oldest first, as JSON documents.
        model_calls: What models were asked by judges, drivers and the like, oldest first, each with
            purpose, provider, model, tokens, `cost_usd` (None if unknown), attempts, time, and how it
            failed, which is "cut short" if the trial ended first.
        trace: What the agent was seen to do; None if nothing was traced.
        case: The case's row, when the test ran one.
        output: What the agent answered, when the test ran a case.
        notes: Remarks for a reader: what could not be observed, written or cleaned up.
        harms: Harm categories that the test is marked with.
        duration_s: Wall time of the test body, in seconds.
        started_at: Unix time, in seconds, at which the trial's set-up began.
        attempt: 1, or more when a rerun plugin repeated the trial.
        position: The item's place in the collection, from 0; orders reports however trials ran.
        asserted: Whether the test's body ended in an assertion or exception of its own.
    """

    key: TrialKey
    nodeid: str
    outcome: Outcome
    failure: Failure | None = None
    results: tuple[JsonObject, ...] = ()
    judgements: tuple[JsonObject, ...] = ()
    model_calls: tuple[JsonObject, ...] = ()
    trace: Trace | None = None
    case: Json = None
    output: Json = None
    notes: tuple[str, ...] = ()
    harms: tuple[str, ...] = ()
    duration_s: float = 0.0
    started_at: float = 0.0
    attempt: int = 1
    position: int = 0
    asserted: bool = False

    def __post_init__(self) -> None:
        if self.outcome in (Outcome.FAILED, Outcome.ERROR) and self.failure is None:
            raise RecordError(f"a trial that {self.outcome} must say why ({self.nodeid})")
        if self.attempt < 1:
            raise RecordError(f"attempt {self.attempt} is below 1 ({self.nodeid})")

    @property
    def cancelled(self) -> bool:
        """Whether the trial was stopped from outside; it then counts as one that never ran."""
        return self.failure is not None and self.failure.kind == "cancelled"

    def cut_short(self, reason: str) -> TrialRecord:
        """The record of this trial, cancelled for `reason`."""
        failure = Failure(owner=FailureOwner.UNKNOWN, kind="cancelled", message=reason)
        return replace(self, outcome=Outcome.SKIPPED, failure=failure)

    def amended(self, amendment: Amendment) -> TrialRecord:
        """The record with its tear-down folded in: the outcome can only become worse."""
        outcome = max(self.outcome, amendment.outcome, key=severity)
        # The failure that decided the outcome leads; the other one is noted.
        decided, noted = self.failure, amendment.failure
        if outcome is not self.outcome:
            decided, noted = noted, decided
        notes = [f"{noted.kind}: {noted.message}"] if decided and noted else []
        return replace(
            self,
            outcome=outcome,
            failure=decided or noted,
            results=(*self.results, *amendment.results),
            model_calls=(*self.model_calls, *amendment.model_calls),
            notes=(*self.notes, *notes),
        )
