"""`seatrial judge calibrate`: how far the judge agrees with people."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from kensa.calibration import (
    Calibration,
    Comparison,
    calibrate_async,
    calibrations_of,
    interval_of,
    overall,
)
from kensa.calibration_file import store_calibrations
from kensa.cli.evaluation import SCHEMA
from kensa.labels import Label, read_labels
from seatrial.cli.command_result import CommandResult
from seatrial.errors import UsageError
from seatrial.models import ModelChoice, choose_model
from seatrial.snapshot import JsonObject, snapshot
from seatrial.text import one_line

__all__ = ["command"]

_SHOWN = 20

# Landis and Koch (1977), Biometrics 33:159-174, table 2.
_WORDS = (
    (0.81, "almost perfect"),
    (0.61, "substantial"),
    (0.41, "moderate"),
    (0.21, "fair"),
    (0.0, "slight"),
)


@click.group("judge", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Find out how far the judge can be trusted."""


@command.command("calibrate")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option("--criteria", help="The criteria of labels without their own.")
@click.option(
    "--criteria-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The same, from a file.",
)
@click.option("--model", help="The judge's model, as in openai:gpt-5.4-mini; else as for evals.")
@click.option(
    "--repeats", type=click.IntRange(1, 100), default=1, show_default=True, help="Of each output."
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    default=16,
    show_default=True,
    help="Outputs judged at once.",
)
@click.option("--no-cache", is_flag=True, help="Ask anew what was asked before.")
@click.option("--min-agreement", type=click.FloatRange(0, 1), help="Exit with 1 below it.")
@click.option("--min-kappa", type=click.FloatRange(-1, 1), help="Exit with 1 below it.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON document.")
def calibrate(
    *,
    labels: Path,
    criteria: str | None,
    criteria_file: Path | None,
    model: str | None,
    repeats: int,
    concurrency: int,
    no_cache: bool,
    min_agreement: float | None,
    min_kappa: float | None,
    as_json: bool,
) -> int:
    """Have the judge judge the outputs in LABELS, and compare it with the people who did.

    LABELS is a file with one JSON object a line: output, passed (true or false), criteria, and if need
    be input, context, trace and id. What comes out is stored beside it.
    """
    if no_cache:
        os.environ["SEATRIAL_NO_CACHE"] = "1"
    try:
        known = read_labels(labels, criteria=_criteria(criteria, criteria_file))
    except UsageError as error:
        raise click.UsageError(str(error)) from None
    choice = choose_model(purpose="judge", model=model)
    comparisons = _compared(known, choice, repeats, concurrency, shows_progress=not as_json)
    calibrations = calibrations_of(comparisons, choice)
    total = overall(comparisons, choice)
    path = store_calibrations(labels, calibrations)
    errors = _misses(total, min_agreement, min_kappa)
    result = CommandResult(
        command="judge calibrate",
        exit_code=1 if errors else 0,
        summary=f"stored in {path}",
        lines=tuple(_lines(total, calibrations, comparisons)),
        data={
            "model": choice.name,
            "labels": len(known),
            "repeats": repeats,
            "overall": total.document(),
            "calibrations": [calibration.document() for calibration in calibrations],
            "disagreements": [_disagreement(c) for c in comparisons if c.disagrees],
            "unable": [c.label.name for c in comparisons if c.judged is None],
            "cost_usd": _cost(comparisons),
            "path": str(path),
        },
        errors=errors,
    )
    result.show(as_json=as_json, schema=SCHEMA)
    return result.exit_code


def _criteria(text: str | None, file: Path | None) -> str | None:
    if text is not None and file is not None:
        raise UsageError("give --criteria or --criteria-file, not both")
    return text if file is None else file.read_text(encoding="utf-8").strip()


def _compared(
    labels: Sequence[Label],
    choice: ModelChoice,
    repeats: int,
    concurrency: int,
    *,
    shows_progress: bool,
) -> tuple[Comparison, ...]:
    shows_progress = shows_progress and sys.stderr.isatty()

    def tell(done: int) -> None:
        if shows_progress:
            end = "\n" if done == len(labels) else ""
            click.echo(f"\rjudged {done} of {len(labels)}{end}", nl=False, err=True)

    work = calibrate_async(labels, model=choice, repeats=repeats, at_once=concurrency, tell=tell)
    try:
        return asyncio.run(work)
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None


def _misses(
    total: Calibration, min_agreement: float | None, min_kappa: float | None
) -> tuple[str, ...]:
    misses = []
    agreed, judged = total.agreement
    rate = agreed / judged if judged else 0.0
    if min_agreement is not None and rate < min_agreement:
        misses.append(f"agreement {rate:.3f} is below --min-agreement {min_agreement:g}")
    if min_kappa is not None:
        kappa = total.kappa
        if kappa is None:
            misses.append("kappa cannot be computed, so --min-kappa is not met")
        elif kappa.value < min_kappa:
            misses.append(f"kappa {kappa.value:.3f} is below --min-kappa {min_kappa:g}")
    return tuple(misses)


def _lines(
    total: Calibration, calibrations: Sequence[Calibration], comparisons: Sequence[Comparison]
) -> list[str]:
    lines = [
        f"judge {total.model}, {len(comparisons)} labels, {len(calibrations)} criteria",
        "",
        "                  judge pass  judge fail",
        f"  people pass     {total.true_pass:>10}  {total.false_fail:>10}",
        f"  people fail     {total.false_pass:>10}  {total.true_fail:>10}",
        "",
        _share("agreement", total.agreement),
        _share("sensitivity", total.sensitivity),
        _share("specificity", total.specificity),
        _share("flip rate", total.flip_rate),
        _kappa(total),
    ]
    if total.unable:
        lines.append(
            f"  the judge could not tell {total.unable} of them; they count in none of these"
        )
    cost = _cost(comparisons)
    lines.append("  cost          " + ("unknown" if cost is None else f"${cost:.4f}"))
    apart = [comparison for comparison in comparisons if comparison.disagrees]
    if apart:
        lines += ["", f"{len(apart)} to read, where judge and people disagree:"]
        lines += [_told(comparison) for comparison in apart[:_SHOWN]]
        if len(apart) > _SHOWN:
            lines.append(f"  and {len(apart) - _SHOWN} more; --json has all")
    return [*lines, ""]


def _share(name: str, share: tuple[int, int]) -> str:
    interval = interval_of(share)
    if interval is None:
        return f"  {name:<13} cannot be computed: nothing to count"
    part, whole = share
    return (
        f"  {name:<13} {part / whole:.3f}  ({part}/{whole}; "
        f"95 % interval {interval.low:.3f} to {interval.high:.3f})"
    )


def _kappa(total: Calibration) -> str:
    kappa = total.kappa
    if kappa is None:
        return (
            "  kappa         cannot be computed: one of the two says the same of all, or of nothing"
        )
    word = next((word for least, word in _WORDS if kappa.value >= least), "poor")
    low, high = kappa.interval.low, kappa.interval.high
    return f"  kappa         {kappa.value:.3f}  ({word}; 95 % interval {low:.3f} to {high:.3f})"


def _told(comparison: Comparison) -> str:
    label = comparison.label
    people, judge = ("pass" if said else "fail" for said in (label.passed, comparison.judged))
    name = one_line(label.name, limit=40)
    criteria = one_line(label.criteria, limit=80)
    reason = one_line(comparison.reasoning, limit=300)
    return f"  {name}: people {people}, judge {judge} [{criteria}] {reason}"


def _disagreement(comparison: Comparison) -> JsonObject:
    return {
        "id": comparison.label.name,
        "criteria": comparison.label.criteria,
        "output": snapshot(comparison.label.output),
        "people": comparison.label.passed,
        "judge": comparison.judged,
        "reasoning": comparison.reasoning,
    }


def _cost(comparisons: Sequence[Comparison]) -> float | None:
    known = [c.cost_usd for c in comparisons if c.cost_usd is not None]
    return sum(known) if len(known) == len(comparisons) else None
