"""What the engine itself has to say at the end: what is missing, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest

from seatrial.text import escape, one_line

if TYPE_CHECKING:
    from seatrial.run import Run
    from seatrial.spending import Spending

__all__ = ["write_notices"]


def write_notices(
    reporter: pytest.TerminalReporter,
    run: Run,
    problems: Iterable[str],
    tolerated: Iterable[tuple[str, str]],
) -> None:
    """Print the engine's own section, if there is anything in it.

    Args:
        reporter: Where to print.
        run: The finished run.
        problems: What could not be written, a sentence each.
        tolerated: Node ids and tracebacks of tolerated trials; shown with `-rA`, `-rP` or `-v`.
    """
    tolerated = tuple(tolerated)
    if tolerated and _shows_passes(reporter.config):
        reporter.write_sep("=", "TOLERATED")
        for nodeid, traceback in tolerated:
            reporter.write_sep("_", one_line(nodeid), yellow=True)
            reporter.write_line(escape(traceback))
    write_spending(reporter, run.spending)
    problems = tuple(problems)
    if not problems and not run.incomplete:
        return
    reporter.write_sep("=", "Seatrial", red=True, bold=True)
    if run.incomplete:
        reporter.write_line("INCOMPLETE RUN: its verdicts do not cover everything that was planned")
    for reason in run.incomplete:
        reporter.write_line(f"  - {escape(reason, keep='')}")
    for problem in problems:
        reporter.write_line(f"PROBLEM: {escape(problem, keep='')}")


def write_spending(reporter: pytest.TerminalReporter, spending: Spending) -> None:
    """Print what models were asked and what that cost, a line for each purpose; nothing if none were."""
    for purpose, spent in spending.by_purpose.items():
        calls = f"{spent.calls} {'call' if spent.calls == 1 else 'calls'}"
        if spent.stored:
            calls += f" ({spent.stored} stored)"
        if spent.failed:
            calls += f" ({spent.failed} failed)"
        cost = f"${spent.known_usd:.4f}"
        if spent.unpriced:
            cost = f"more than {cost}" if spent.known_usd else "unknown price"
        tokens = f"{spent.input_tokens:,} tokens in, {spent.output_tokens:,} out"
        reporter.write_line(f"models, {one_line(purpose, limit=40)}: {calls}, {tokens}, {cost}")


def _shows_passes(config: pytest.Config) -> bool:
    report_chars = str(config.getoption("reportchars", ""))
    return config.get_verbosity() > 0 or "A" in report_chars or "P" in report_chars
