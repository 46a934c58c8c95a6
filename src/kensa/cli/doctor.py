"""`kensa doctor`: whether evals can run here, and whether they would meet the real agent."""

from __future__ import annotations

from pathlib import Path

import click

from kensa.cli.evaluation import SCHEMA
from kensa.cli.harness import EVALS, check_harness
from kensa.cli.pytest_process import PytestEnd, run_pytest
from seatrial.cli.command_result import CommandResult
from seatrial.cli.doctor import Checkup, installation_checkup
from seatrial.cli.invocation import INTERRUPTED
from seatrial.snapshot import Json, JsonObject

__all__ = ["command"]

SMOKE_TEST = EVALS / "test_kensa_smoke.py"

_OUTPUT_SHOWN = 4_000


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON document.")
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option(
    "--allow-suspicious-harness",
    is_flag=True,
    help="With --strict, do not fail because the harness looks like a stub.",
)
def command(*, as_json: bool, strict: bool, allow_suspicious_harness: bool) -> int:
    """Check the installation and the harness in tests/evals/conftest.py.

    Runs tests/evals/test_kensa_smoke.py if there is one. Exits with 1 if evals cannot run here;
    a harness that looks like a stub is a warning.
    """
    root = Path.cwd()
    installation = installation_checkup()
    harness = check_harness(root)
    smoke = None
    if not harness.errors and not installation.errors and (root / SMOKE_TEST).is_file():
        if not as_json:
            click.echo(f"running {SMOKE_TEST.as_posix()}")
        smoke = run_pytest(["-q", SMOKE_TEST.as_posix()], folder=root, capture=True)
    errors = (*installation.errors, *harness.errors, *_smoke_errors(smoke))
    fatal = strict and bool(harness.suspicions) and not allow_suspicious_harness
    if smoke is not None and smoke.interrupted:
        exit_code = INTERRUPTED
    else:
        exit_code = 1 if errors or fatal else 0
    result = CommandResult(
        command="doctor",
        exit_code=exit_code,
        summary=_summary(exit_code, harness.suspicions),
        lines=installation.lines,
        data={**installation.data, **_data(harness.suspicions, smoke, ready=not errors)},
        warnings=harness.suspicions,
        errors=errors,
        next_steps=_steps(installation, harness.errors, harness.suspicions),
    )
    result.show(as_json=as_json, schema=SCHEMA)
    return exit_code


def _smoke_errors(smoke: PytestEnd | None) -> tuple[str, ...]:
    if smoke is None or smoke.returncode == 0:
        return ()
    shown = (smoke.stdout + smoke.stderr)[-_OUTPUT_SHOWN:].strip()
    return (f"the smoke test failed (pytest exit {smoke.returncode}):\n{shown}",)


def _summary(exit_code: int, suspicions: tuple[str, ...]) -> str:
    if exit_code:
        return "evals are not ready here"
    return "evals can run; look at the warnings" if suspicions else "evals can run"


def _data(suspicions: tuple[str, ...], smoke: PytestEnd | None, *, ready: bool) -> JsonObject:
    return {
        "harness_authenticity_warnings": list[Json](suspicions),
        "harness_readiness": {"ready": ready, "smoke_eval_count": 0 if smoke is None else 1},
        "smoke": None
        if smoke is None
        else {"returncode": smoke.returncode, "stdout": smoke.stdout, "stderr": smoke.stderr},
    }


def _steps(
    installation: Checkup, errors: tuple[str, ...], suspicions: tuple[str, ...]
) -> tuple[str, ...]:
    steps = list(installation.next_steps)
    conftest = (EVALS / "conftest.py").as_posix()
    if errors:
        steps.append(f"define the fixture kensa_run in {conftest}, and run kensa doctor again")
    elif suspicions:
        steps.append(f"let kensa_run in {conftest} call the real agent")
    return tuple(steps)
