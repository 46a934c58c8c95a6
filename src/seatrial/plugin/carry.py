"""Carrying: a record rides on pytest's report, the same way in one process and from workers.

What is attached is text from the codec, so a report stays plain data. A report is *tolerated* when
its trial missed but its group may still pass; pytest sees it as an expected failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from seatrial.outcome import Outcome
from seatrial.text import one_line

if TYPE_CHECKING:
    from seatrial.run import PlannedTrial
    from seatrial.trial import Amendment, TrialRecord

__all__ = [
    "accept",
    "accepted_word",
    "attach_amendment",
    "attach_plan",
    "attach_plan_text",
    "attach_record",
    "is_ours",
    "is_tolerated",
    "overrule",
    "peek_outcome",
    "promote",
    "read_record",
    "reason_on",
    "take_amendment",
    "take_plan",
    "take_record",
    "tolerate",
]

_RECORD = "seatrial_record"
_AMENDMENT = "seatrial_amendment"
_PLAN = "seatrial_plan"
_OUTCOME = "seatrial_outcome"
_REASON = "seatrial_reason"
_TOLERATED = "seatrial_tolerated"
_ACCEPTED = "seatrial_accepted"
_ALL = frozenset({_RECORD, _AMENDMENT, _PLAN, _OUTCOME, _REASON, _TOLERATED, _ACCEPTED})


_attached: tuple[str, TrialRecord] | None = None


def attach_record(report: pytest.TestReport, record: TrialRecord, reason: str) -> None:
    """Put a trial's record on its report, with the one-line reason that its face gives."""
    global _attached  # noqa: PLW0603 - see read_record
    from seatrial.codec import dump_record  # starting pytest needs none

    text = dump_record(record)
    _attached = (text, record)
    setattr(report, _RECORD, text)
    setattr(report, _OUTCOME, record.outcome.value)
    setattr(report, _REASON, reason)


def attach_amendment(report: pytest.TestReport, amendment: Amendment) -> None:
    """Put what a tear-down adds on its report."""
    from seatrial.codec import dump_amendment

    setattr(report, _AMENDMENT, dump_amendment(amendment))
    setattr(report, _OUTCOME, amendment.outcome.value)
    message = amendment.failure.message if amendment.failure is not None else ""
    setattr(report, _REASON, one_line(message))


def attach_plan(report: pytest.TestReport, plan: tuple[PlannedTrial, ...]) -> None:
    """Put a worker's plan on a report of it."""
    from seatrial.codec import dump_plan

    attach_plan_text(report, dump_plan(plan))


def attach_plan_text(report: pytest.TestReport, text: str) -> None:
    """Put a plan that is text already on a report."""
    setattr(report, _PLAN, text)


def is_ours(report: object) -> bool:
    """Whether anything here has put something on the report."""
    return not _ALL.isdisjoint(vars(report))


def take_record(report: pytest.TestReport) -> str | None:
    """The record on a report, as text; the report no longer holds it."""
    return _take(report, _RECORD)


def read_record(text: str) -> TrialRecord:
    """The record that a report carried.

    In one process a report is taken right after it was attached to; it need not be decoded then.

    Raises:
        seatrial.errors.CodecError: As for `seatrial.codec.load_record`.
    """
    if _attached is not None and _attached[0] is text:
        return _attached[1]
    from seatrial.codec import load_record

    return load_record(text)


def take_amendment(report: pytest.TestReport) -> str | None:
    """The amendment on a report, as text; the report no longer holds it."""
    return _take(report, _AMENDMENT)


def take_plan(report: pytest.TestReport) -> str | None:
    """The plan on a report, as text; the report no longer holds it."""
    return _take(report, _PLAN)


def _take(report: pytest.TestReport, name: str) -> str | None:
    text = report.__dict__.pop(name, None)
    return text if isinstance(text, str) else None


def peek_outcome(report: pytest.TestReport) -> Outcome | None:
    """The outcome that a report's record or amendment has, without reading all of it."""
    value = getattr(report, _OUTCOME, None)
    return None if value is None else Outcome(value)


def reason_on(report: pytest.TestReport) -> str:
    """Why the trial of this report did not pass, on one line; empty if nothing says so."""
    return str(getattr(report, _REASON, ""))


def accept(report: pytest.TestReport, word: str) -> None:
    """Show a passing report under another word, since its trial proved nothing."""
    setattr(report, _ACCEPTED, word)


def accepted_word(report: object) -> str | None:
    """The word that `accept` gave this report, if it did."""
    return getattr(report, _ACCEPTED, None)


def tolerate(report: pytest.TestReport, reason: str) -> None:
    """Show a report as a failure that its group may outweigh; its traceback stays on it."""
    if report.longrepr is None:
        report.longrepr = reason
    report.outcome = "skipped"
    report.wasxfail = f"tolerated: {one_line(reason)}"
    setattr(report, _TOLERATED, True)


def overrule(report: pytest.TestReport, reason: str) -> None:
    """Make a report a failed one for `reason`, whatever it is now."""
    for mark in (_TOLERATED, _ACCEPTED, "wasxfail"):
        report.__dict__.pop(mark, None)
    report.outcome = "failed"
    report.longrepr = reason


def is_tolerated(report: object) -> bool:
    """Whether `tolerate` marked this report and nothing promoted it since."""
    return getattr(report, _TOLERATED, False) is True


def promote(report: pytest.TestReport) -> None:
    """Make a tolerated report a failed one: its group can no longer pass."""
    report.outcome = "failed"
    del report.wasxfail
    delattr(report, _TOLERATED)
