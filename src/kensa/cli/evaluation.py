"""`kensa eval`: run the evals through pytest, keep their results, say whether they are ready."""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import click

from kensa.cli.pytest_process import PytestEnd, pytest_command, run_pytest
from kensa.cli.reports import prepare_report, render_json, write_report
from kensa.cli.run_results import no_results, read_results, readiness, rows
from kensa.markdown import render_markdown
from seatrial.cli.command_result import CommandResult
from seatrial.cli.invocation import INTERRUPTED
from seatrial.errors import CodecError
from seatrial.snapshot import Json, JsonObject

__all__ = ["SCHEMA", "command"]

SCHEMA = "kensa.cli.v1"

_DEFAULT_PATH = "tests/evals"
_ARTIFACT_OPTION = "--kensa-artifact-dir"
_FAILURES_NAMED = 20
_EXITS = {
    1: "tests failed",
    2: "pytest was interrupted, or could not collect the tests",
    3: "pytest failed internally",
    4: "pytest was called wrongly",
    5: "no tests were collected",
}


class PassThroughCommand(click.Command):
    """A command that leaves everything after the first `--` alone, in `pytest_args`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before `--`; options that are pytest's get a hint."""
        end = args.index("--") if "--" in args else len(args)
        try:
            rest = super().parse_args(ctx, args[:end])
        except click.NoSuchOption as error:
            hint = f"{error.format_message()} Options for pytest go after `--`."
            raise click.UsageError(hint, ctx=ctx) from error
        ctx.params["pytest_args"] = tuple(args[end + 1 :])
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line's words."""
        return [*super().collect_usage_pieces(ctx), "[-- PYTEST_ARGS...]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRequest:
    """What `kensa eval` was asked for.

    Attributes:
        root: Where pytest runs; `paths` are relative to it.
        json_report: Where a copy of the results goes.
        markdown_report: Where the summary for a pull request goes.
    """

    root: Path
    paths: tuple[str, ...]
    pytest_args: tuple[str, ...]
    no_judge: bool
    as_json: bool
    json_report: Path | None
    markdown_report: Path | None

    @property
    def arguments(self) -> list[str]:
        """pytest's arguments. What the user passes comes last and therefore wins."""
        paths = self.paths or (_DEFAULT_PATH,)
        options = [
            "--kensa-write-artifacts",
            f"--kensa-report={'json' if self.as_json else 'term'}",
            *(["--kensa-no-judge"] if self.no_judge else []),
            *self.pytest_args,
        ]
        # pytest 8.4 takes no `--` after a path. Without one, a path at the end could be taken
        # for the value of an option.
        return [*options, *paths] if "--" in self.pytest_args else [*paths, *options]

    @property
    def artifacts(self) -> Path:
        """The folder that the run writes its artifacts to."""
        chosen = artifact_folder([*_environment_arguments(), *self.pytest_args])
        return self.root / (chosen or ".kensa")


def artifact_folder(arguments: Sequence[str]) -> str | None:
    """The artifact folder that pytest's `arguments` name, the last one winning."""
    options = list(arguments)
    if "--" in options:
        options = options[: options.index("--")]
    chosen = None
    for option, following in zip(options, [*options[1:], None], strict=False):
        if option == _ARTIFACT_OPTION and following is not None:
            chosen = following
        elif option.startswith(f"{_ARTIFACT_OPTION}="):
            chosen = option.removeprefix(f"{_ARTIFACT_OPTION}=")
    return chosen


def _environment_arguments() -> list[str]:
    try:
        return shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    except ValueError:
        return []  # pytest will refuse them, and say so


@click.command("eval", cls=PassThroughCommand)
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON document.")
@click.option(
    "--json-report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the results to FILE as JSON.",
)
@click.option(
    "--markdown-report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a summary to FILE as Markdown, for a pull request's comment.",
)
@click.option("--no-judge", is_flag=True, help="Call no model to judge.")
@click.option(
    "--project-root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Run in DIR instead of the current folder.",
)
def command(
    *,
    paths: tuple[str, ...],
    pytest_args: tuple[str, ...],
    as_json: bool,
    json_report: Path | None,
    markdown_report: Path | None,
    no_judge: bool,
    project_root: Path,
) -> int:
    """Run the evals in PATHS, by default tests/evals, through pytest.

    Everything after `--` goes to pytest: kensa eval -- -k refund -q

    Exits with pytest's status if that is not 0, and with 1 unless at least one case that is no
    smoke test passed.
    """
    request = EvalRequest(
        root=project_root.resolve(),
        paths=paths,
        pytest_args=pytest_args,
        no_judge=no_judge,
        as_json=as_json,
        json_report=json_report and prepare_report(json_report),
        markdown_report=markdown_report and prepare_report(markdown_report),
    )
    result = evaluate(request, new_run_id())
    result.show(as_json=as_json, schema=SCHEMA)
    return result.exit_code


def new_run_id() -> str:
    """A name for a run that sorts by time and that no other run has."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(3)}"


def evaluate(request: EvalRequest, run_id: str) -> CommandResult:
    """Run the evals as `run_id`, write the reports, and conclude."""
    end = run_pytest(request.arguments, folder=request.root, run_id=run_id, capture=request.as_json)
    artifact = request.artifacts / "results" / f"{run_id}.json"
    missing: str | None = None
    try:
        document = read_results(artifact, run_id)
    except CodecError as error:
        missing = str(error)
        reason = missing if end.returncode == 0 else _why(end)
        document = no_results(run_id, reason)
    result = conclude(request, end, document, missing)
    failed_reports = _write_reports(request, document)
    written = [path for path in (request.json_report, request.markdown_report) if path is not None]
    files = [*([artifact] if missing is None else []), *written]
    traces = request.artifacts / "traces" / "runs" / run_id / "trials.jsonl"
    return replace(
        result,
        exit_code=result.exit_code or (1 if failed_reports else 0),
        lines=tuple(f"written: {path}" for path in files if path.exists()),
        errors=(*result.errors, *failed_reports),
        data={
            **result.data,
            "run_id": run_id,
            "artifact": str(artifact) if missing is None else None,
            "trace_artifact": str(traces) if traces.is_file() else None,
        },
    )


def conclude(
    request: EvalRequest, end: PytestEnd, document: JsonObject, missing: str | None
) -> CommandResult:
    """What the run's results and pytest's exit status mean together.

    Args:
        missing: Why there are no results, if there are none.
    """
    ready = readiness(document)
    exit_code = _exit_code(end, ready=ready.ready)
    errors: list[str] = []
    steps: list[str] = []
    if end.returncode or end.interrupted:
        errors.append(_why(end))
        errors += _failures(document)
        steps += _steps(request, end)
    elif missing is not None:
        errors.append(missing)
        steps.append(
            "see that the plugin kensa is not switched off (-p no:kensa), and where"
            f" {_ARTIFACT_OPTION} points"
        )
    elif not ready.ready:
        errors.append(
            "only the smoke test passed; a smoke test says nothing about the agent"
            if ready.smoke_passing
            else "no eval passed"
        )
        steps.append(f"write an eval in {_DEFAULT_PATH} with @pytest.mark.kensa and run again")
    groups = rows(document, "aggregates")
    passed = sum(group.get("verdict") == "pass" for group in groups)
    return CommandResult(
        command="eval",
        exit_code=exit_code,
        summary=f"{passed}/{len(groups)} case(s) passed" if groups else "no case was evaluated",
        data={
            "paths": list[Json](request.paths or (_DEFAULT_PATH,)),
            "pytest_args": list[Json](request.pytest_args),
            "pytest_command": list[Json](pytest_command(request.arguments)),
            "json_report": _shown(request.json_report),
            "markdown_report": _shown(request.markdown_report),
            "complete": document["complete"],
            "interruption": document["interruption"],
            "aggregates": list[Json](groups),
            **ready.document(),
            "pytest": {
                "returncode": end.returncode,
                "stdout": end.stdout,
                "stderr": end.stderr,
            },
        },
        errors=tuple(errors),
        next_steps=tuple(steps),
    )


def _shown(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _exit_code(end: PytestEnd, *, ready: bool) -> int:
    if end.interrupted:
        return INTERRUPTED
    return end.returncode or (0 if ready else 1)


def _why(end: PytestEnd) -> str:
    if end.interrupted:
        return "interrupted"
    if end.returncode > 128:
        return f"pytest was ended by signal {end.returncode - 128}"
    meaning = _EXITS.get(end.returncode, "pytest ended early")
    return f"{meaning} (pytest exit {end.returncode})"


def _failures(document: JsonObject) -> list[str]:
    named = [
        f"{str(group.get('verdict') or 'not run').upper()} {group.get('group_id')}"
        for group in rows(document, "aggregates")
        if group.get("verdict") not in ("pass", "inconclusive")
    ]
    more = len(named) - _FAILURES_NAMED
    return named if more <= 0 else [*named[:_FAILURES_NAMED], f"and {more} more"]


def _steps(request: EvalRequest, end: PytestEnd) -> list[str]:
    if not request.paths and not (request.root / _DEFAULT_PATH).is_dir():
        return [
            f"{request.root} has no folder {_DEFAULT_PATH}: name the evals, as in `kensa eval PATH`,"
            " or where the project is, with --project-root"
        ]
    if end.returncode in (2, 5) and not end.interrupted:
        return ["kensa doctor checks the harness in tests/evals/conftest.py"]
    return []


def _write_reports(request: EvalRequest, document: JsonObject) -> list[str]:
    return [
        problem
        for path, render in (
            (request.json_report, render_json),
            (request.markdown_report, render_markdown),
        )
        if path is not None and (problem := write_report(path, render(document))) is not None
    ]
