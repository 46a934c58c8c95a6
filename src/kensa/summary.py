"""The terminal summary of a run's evals."""

from __future__ import annotations

from kensa.policy import EvalPolicy
from seatrial.gate import Tally
from seatrial.run import Run
from seatrial.text import one_line

__all__ = ["summary_lines"]


def summary_lines(run: Run) -> list[str]:
    """The headline, then a line per case; cases that never ran are listed, and count as nothing."""
    verdicts, not_run, passed = [], [], 0
    for group in sorted(run.groups("kensa"), key=lambda group: group.key.label):
        label = one_line(group.key.label)
        verdict = EvalPolicy().verdict(group.tally)
        if verdict is None:
            not_run.append(f"NOT RUN {label}: {_why_not_run(group.tally)}")
            continue
        passed += verdict.name == "pass"
        verdicts.append(f"{verdict.name.upper()} {label}: {_counts(group.tally)}")
    headline = f"{passed}/{len(verdicts)} aggregate case(s) passed"
    return [headline, *verdicts, *not_run]


def _counts(tally: Tally) -> str:
    total = tally.counted - tally.lost
    counts = f"{tally.passed}/{total} passed, {tally.failed} failed, {tally.error} errored"
    if tally.inconclusive:
        counts += f", {tally.inconclusive} unjudged"
    return counts


def _why_not_run(tally: Tally) -> str:
    parts = [
        f"{count} {word}"
        for count, word in ((tally.skipped, "skipped"), (tally.lost, "lost"))
        if count
    ]
    return ", ".join(parts)
