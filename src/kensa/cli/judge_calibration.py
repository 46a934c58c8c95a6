"""`seatrial judge calibrate`: how far the judge agrees with people."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from kensa.calibration import (
    Calibration,
    Comparison,
    Judging,
    calibrate_async,
    calibrations_of,
    overall,
)
from kensa.calibration_file import digest_of, path_beside, store_calibrations
from kensa.calibration_report import report_lines
from kensa.cli.evaluation import SCHEMA
from kensa.labels import read_labels
from seatrial.cli.command_result import CommandResult
from seatrial.errors import ModelConfigurationError, UsageError
from seatrial.models import ModelChoice, choose_model
from seatrial.snapshot import JsonObject, snapshot
from seatrial.spending import Spent
from seatrial.text import one_line

__all__ = ["command"]


@click.group("judge", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Find out how far the judge can be trusted."""


def _number(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    """Refuse NaN, which lies in every range of click's and is below nothing."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is no number", context, parameter)
    return value


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
    "--repeats",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="How often each output is judged; from 2, the flip rate is known.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    default=32,
    show_default=True,
    envvar="SEATRIAL_MODEL_CONCURRENCY",
    show_envvar=True,
    help="Outputs judged at once.",
)
@click.option("--no-cache", is_flag=True, help="Ask anew what was asked before.")
@click.option(
    "--min-agreement",
    type=click.FloatRange(0, 1),
    callback=_number,
    help="Exit with 1 if agreement is below it.",
)
@click.option(
    "--min-kappa",
    type=click.FloatRange(-1, 1),
    callback=_number,
    help="Exit with 1 if kappa is below it.",
)
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

    LABELS is a file with one JSON object a line: output, passed (true or false), criteria, and if
    need be input, context, trace and id. What comes out is stored beside it.

    Exits with 1 if the judge could tell of no output, or agrees less than is asked for.
    """
    with _wrong_use():
        known = read_labels(labels, criteria=_criteria(criteria, criteria_file))
        digest = digest_of(labels)
        path_beside(labels)  # refuses a file that is not ours, before models are paid
        choice = choose_model(purpose="judge", model=model)
        judging = asyncio.run(
            calibrate_async(
                known,
                model=choice,
                repeats=repeats,
                at_once=concurrency,
                use_cache=not no_cache,
                tell=_progress(len(known), shown=sys.stderr.isatty() and not as_json),
            )
        )
    result = _concluded(
        judging,
        choice,
        repeats=repeats,
        misses=_misses(overall(judging.comparisons, choice), min_agreement, min_kappa),
        store=lambda calibrations: store_calibrations(labels, digest, calibrations),
    )
    result.show(as_json=as_json, schema=SCHEMA)
    return result.exit_code


@contextmanager
def _wrong_use() -> Iterator[None]:
    """Make errors in what the command was given usage errors."""
    try:
        yield
    except (UsageError, ModelConfigurationError) as error:
        raise click.UsageError(one_line(str(error), limit=1000)) from None


def _criteria(text: str | None, file: Path | None) -> str | None:
    if text is not None and file is not None:
        raise UsageError("give --criteria or --criteria-file, not both")
    if file is None:
        return text
    try:
        return file.read_text(encoding="utf-8-sig").strip()
    except OSError as error:
        raise UsageError(f"--criteria-file {file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"--criteria-file {file} is no UTF-8: {error}") from None


def _progress(total: int, *, shown: bool) -> Callable[[int], None]:
    def tell(done: int) -> None:
        if shown:
            click.echo(f"\rjudged {done} of {total}", nl=done == total, err=True)

    return tell


def _misses(
    total: Calibration, min_agreement: float | None, min_kappa: float | None
) -> tuple[str, ...]:
    """Which minimum is not met. What cannot be computed meets none."""
    kappa = total.kappa
    agreed, judged = total.agreement
    asked = (
        ("agreement", agreed / judged if judged else None, min_agreement),
        ("kappa", None if kappa is None else kappa.value, min_kappa),
    )
    return tuple(
        f"{name} cannot be computed, so --min-{name} {least:g} is not met"
        if value is None
        else f"{name} {value:.3f} is below --min-{name} {least:g}"
        for name, value, least in asked
        if least is not None and (value is None or value < least)
    )


def _concluded(
    judging: Judging,
    choice: ModelChoice,
    *,
    repeats: int,
    misses: tuple[str, ...],
    store: Callable[[Sequence[Calibration]], Path],
) -> CommandResult:
    """What came out, once it is stored."""
    comparisons = judging.comparisons
    total = overall(comparisons, choice)
    calibrations = calibrations_of(comparisons, choice)
    unable = [comparison for comparison in comparisons if comparison.judged is None]
    errors = list(misses)
    warnings: list[str] = []
    if unable:
        reason = one_line(unable[0].reasoning, limit=300)
        (warnings if total.judged else errors).append(
            f"the judge could not tell {len(unable)} of {len(comparisons)}, which count in no figure;"
            f" of {one_line(unable[0].label.name, limit=40)}: {reason}"
        )
    path = None
    if total.judged:
        try:
            path = store(calibrations)
        except (OSError, UsageError) as error:
            errors.append(f"the calibration could not be stored: {error}")
    return CommandResult(
        command="judge calibrate",
        exit_code=1 if errors else 0,
        summary="nothing was stored" if path is None else f"stored in {path}",
        lines=tuple(report_lines(judging, total, calibrations, repeats=repeats)),
        data={
            "model": choice.name,
            "labels": len(comparisons),
            "repeats": repeats,
            "overall": total.document(),
            "calibrations": [calibration.document() for calibration in calibrations],
            "disagreements": [_disagreement(c) for c in comparisons if c.disagrees],
            "unable": [{"id": c.label.name, "reason": c.reasoning} for c in unable],
            **_spent(judging.spent),
            "path": None if path is None else str(path),
        },
        warnings=tuple(warnings),
        errors=tuple(errors),
    )


def _disagreement(comparison: Comparison) -> JsonObject:
    return {
        "id": comparison.label.name,
        "criteria": comparison.label.criteria,
        "output": snapshot(comparison.label.output),
        "people": comparison.label.passed,
        "judge": comparison.judged,
        "reasoning": comparison.reasoning,
    }


def _spent(spent: Spent) -> JsonObject:
    return {
        "calls": spent.calls,
        "stored_answers": spent.stored,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost_usd": None if spent.unpriced else spent.known_usd,
        "known_cost_usd": spent.known_usd,
    }
