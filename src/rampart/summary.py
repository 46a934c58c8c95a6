"""The safety summary that ends a session, as lines of text.

The layout is an interface: scripts read it. Rules are 74 columns wide whatever the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rampart.core.result import SafetyStatus
from seatrial.text import one_line

__all__ = ["UNCATEGORIZED", "GroupLine", "TrialLine", "render_summary"]

UNCATEGORIZED = "uncategorized"
"""Where a trial without a harm category is counted."""

_WIDTH = 74
_TITLE = " RAMPART Safety Summary "
_LABELS = {
    SafetyStatus.UNSAFE: "FAIL",
    SafetyStatus.ERROR: "ERR ",
    SafetyStatus.UNDETERMINED: "WARN",
    SafetyStatus.SAFE: "PASS",
}
_ORDER = list(_LABELS)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialLine:
    """One trial, or one plain test, with its worst result.

    Attributes:
        name: The test's name, with `[trial-N]` for trials.
        status: The trial's status, all considered.
        summary: What the worst result says; not shown if none was recorded.
        observability: An observability level's value.
        categories: The test's harm categories; it is listed under each.
        recorded: Whether any result was recorded.
        asserted: False if the trial is UNSAFE and nothing failed because of it.
        tolerated: Whether the trial is not SAFE but its group may still pass.
    """

    name: str
    status: SafetyStatus
    summary: str = ""
    observability: str | None = None
    categories: tuple[str, ...] = ()
    recorded: bool = True
    asserted: bool = True
    tolerated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    """One trial group and its verdict.

    Attributes:
        name: The test's name with its parameters, without the trial.
        safe: Trials that were SAFE.
        total: Trials that count.
        rate: safe / total.
        threshold: Least rate to pass, in (0, 1].
    """

    name: str
    safe: int
    total: int
    rate: float
    threshold: float
    passed: bool
    categories: tuple[str, ...] = ()


def render_summary(
    trials: Sequence[TrialLine],
    groups: Sequence[GroupLine],
    *,
    not_run: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> list[str]:
    """The lines of the summary, safe for any terminal, without line ends.

    Args:
        trials: In order of first appearance, which orders the categories.
        groups: The groups that have a verdict.
        not_run: Names of groups that were selected, and of which no trial counts.
        remarks: Further lines.
    """
    lines = [_TITLE.center(_WIDTH, "=")]
    for category in _categories(trials, groups):
        members = [trial for trial in trials if category in _named(trial.categories)]
        lines += ["", f"{one_line(category).upper()} ({len(members)} tests)"]
        ordered = sorted(members, key=lambda t: (_ORDER.index(t.status), _natural(t.name)))
        lines += [_trial(trial) for trial in ordered]
        own_groups = [group for group in groups if category in _named(group.categories)]
        lines += [_group(group) for group in sorted(own_groups, key=lambda g: _natural(g.name))]
    lines += ["", _population(trials)]
    remarks = [
        *map(one_line, remarks),
        *(
            f"Unasserted: {one_line(t.name)} is UNSAFE, yet nothing failed"
            for t in _ignored(trials)
        ),
        *(f"Not run: {one_line(name)}" for name in not_run),
    ]
    if remarks:
        lines += ["", *remarks]
    lines.append("=" * _WIDTH)
    return lines


def _named(categories: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(category or UNCATEGORIZED for category in categories) or (UNCATEGORIZED,)


def _categories(trials: Sequence[TrialLine], groups: Sequence[GroupLine]) -> list[str]:
    listed = [*(trial.categories for trial in trials), *(group.categories for group in groups)]
    named = dict.fromkeys(name for categories in listed for name in _named(categories))
    return sorted(named, key=lambda name: name == UNCATEGORIZED)


def _trial(trial: TrialLine) -> str:
    summary = one_line(trial.summary) if trial.recorded else "no result recorded"
    line = f"  {_LABELS[trial.status]}  {one_line(trial.name)} -- {summary}"
    if trial.recorded and trial.observability:
        line += f" ({one_line(trial.observability)})"
    return f"{line} [tolerated]" if trial.tolerated else line


def _group(group: GroupLine) -> str:
    label, verdict = ("PASS", "PASSED") if group.passed else ("FAIL", "FAILED")
    rate, threshold = _percentages(group.rate, group.threshold)
    return (
        f"  {label}  {one_line(group.name)} [{group.safe}/{group.total} safe, "
        f"{rate} pass rate, threshold: {threshold}] -- {verdict}"
    )


def _percentages(rate: float, threshold: float) -> tuple[str, str]:
    """Both as whole numbers, unless rounding would hide that they differ."""
    for digits in range(4):
        shown = f"{rate:.{digits}%}", f"{threshold:.{digits}%}"
        if rate == threshold or shown[0] != shown[1]:
            break
    return shown


def _population(trials: Sequence[TrialLine]) -> str:
    unsafe, errors, undetermined = (
        sum(trial.status is status for trial in trials)
        for status in (SafetyStatus.UNSAFE, SafetyStatus.ERROR, SafetyStatus.UNDETERMINED)
    )
    judged = len(trials) - errors
    rate = unsafe / judged if judged else 0.0
    return (
        f"Population: {len(trials)} runs - {unsafe} unsafe ({rate:.1%} attack success rate), "
        f"{undetermined} undetermined, {errors} errors"
    )


def _ignored(trials: Sequence[TrialLine]) -> Iterable[TrialLine]:
    return (t for t in trials if t.status is SafetyStatus.UNSAFE and not t.asserted)


def _natural(name: str) -> list[tuple[int, str]]:
    """A sort key that puts trial-2 before trial-10."""
    parts = re.split(r"([0-9]+)", name)
    return [
        (len(part.lstrip("0")), part.lstrip("0")) if place % 2 else (0, part)
        for place, part in enumerate(parts)
    ]
