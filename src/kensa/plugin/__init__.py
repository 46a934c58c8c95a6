"""The pytest plugin of the evals face: options, fixture, summary and artifacts."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kensa.plugin.face import EvalFace
from seatrial.plugin.faces import require_engine
from seatrial.plugin.keys import run_key
from seatrial.text import escape

if TYPE_CHECKING:
    from kensa.trace import KensaTrace
    from seatrial.run import Run

__all__: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of evals."""
    group = parser.getgroup("kensa", "evals of agents")
    group.addoption(
        "--kensa-no-judge",
        action="store_true",
        help="Disable judge calls; deterministic assertions still run.",
    )
    group.addoption(
        "--kensa-report",
        choices=("term", "json"),
        default="term",
        help="Summary format: term or json (default: %(default)s).",
    )
    group.addoption(
        "--kensa-write-artifacts",
        action="store_true",
        help="Write .kensa/results/<run_id>.json and trial traces.",
    )
    group.addoption(
        "--kensa-artifact-dir",
        metavar="DIR",
        default=".kensa",
        help="Override the artifact directory (default: %(default)s).",
    )
    parser.addini(
        "kensa_judge_calibrations",
        "Files of `seatrial judge calibrate`, as patterns relative to the root folder: judgements that"
        " none of them covers are reported.",
        type="args",
        default=[],
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    require_engine(config, "kensa")
    config.addinivalue_line(
        "markers",
        "kensa(trials=N): run each case of this eval N times (default 1)."
        " Further: concurrency=, how many of its trials at once; timeout_s=, each trial's time limit.",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_seatrial_face() -> EvalFace:
    """Bring the evals face."""
    return EvalFace()


def pytest_make_parametrize_id(val: object) -> str | None:
    """A case's id is its name in test ids."""
    case = sys.modules.get("kensa.case")  # nobody made a case if nobody imported this
    return escape(val.id, keep="") if case is not None and isinstance(val, case.KensaCase) else None


@pytest.fixture
def kensa_trace() -> KensaTrace:
    """The trace of the current trial; complete once `case.run` has returned."""
    from kensa.trace import KensaTrace

    return KensaTrace()


@pytest.hookimpl(optionalhook=True)
def pytest_seatrial_run_finished(config: pytest.Config, run: Run) -> list[str]:
    """Write the artifacts, if asked to."""
    if not config.getoption("kensa_write_artifacts") or not run.groups("kensa"):
        return []
    from kensa.artifacts import write_artifacts

    folder = config.invocation_params.dir / Path(config.getoption("kensa_artifact_dir"))
    try:
        write_artifacts(run, folder)
    except OSError as error:
        return [f"the results of the evals could not be written to {folder}: {error}"]
    return []


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> Generator[None, object, object]:
    """Print the summary after pytest's own output."""
    result = yield
    run = config.stash.get(run_key, None)
    if run is not None and run.groups("kensa"):
        _write_summary(terminalreporter, config, run)
    return result


def _write_summary(reporter: pytest.TerminalReporter, config: pytest.Config, run: Run) -> None:
    reporter.write_sep("=", "Kensa summary")
    if config.getoption("kensa_report") == "json":
        from kensa.results import aggregates

        document = {"run_id": run.run_id, "aggregates": aggregates(run)}
        reporter.write_line(json.dumps(document, indent=2, allow_nan=False))
        return
    from kensa.summary import summary_lines

    for line in summary_lines(run):
        reporter.write_line(line)
    for line in _calibration_remarks(config, run):
        reporter.write_line(line)


def _calibration_remarks(config: pytest.Config, run: Run) -> list[str]:
    patterns = config.getini("kensa_judge_calibrations")
    if not patterns:
        return []
    from kensa.calibration_check import calibration_remarks

    return calibration_remarks(run, config.rootpath, patterns)
