"""A sink that writes a run to a JSON file."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from rampart.core.result import Result
from rampart.documents import result_to_document
from rampart.reporting.report import TestRunReport, TrialGroupResult
from rampart.utility import UtilitySummary
from seatrial.files import make_private_folder, write_json
from seatrial.snapshot import Json, JsonObject, snapshot

__all__ = ["SCHEMA_VERSION", "JsonFileReportSink"]

SCHEMA_VERSION = 1
"""Grows when a key changes its meaning or goes away."""


_VERDICTS = {True: "PASSED", False: "FAILED", None: None}


class JsonFileReportSink:
    """Writes each report to a new file, `run_report_<UTC time>.json`, readable by the user only.

    Args:
        output_dir: Folder for the reports. One that does not exist is made, with a `.gitignore`;
            one that does is left as it is.

    Raises:
        TypeError: If `output_dir` is no path.
    """

    def __init__(self, *, output_dir: Path | str) -> None:
        if not isinstance(output_dir, (str, Path)):
            raise TypeError(f"output_dir must be a path, not {output_dir!r}")
        self._folder = Path(output_dir)

    async def emit_async(self, *, report: TestRunReport) -> None:
        """Write the report, whole or not at all.

        Raises:
            OSError: If the folder cannot be made or written to.
        """
        self.write(report)

    def write(self, report: TestRunReport) -> Path:
        """Write the report and say where; see `emit_async`."""
        if not self._folder.exists():
            make_private_folder(self._folder)
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
        return _write_new(self._folder, f"run_report_{stamp}", _report(report))


def _write_new(folder: Path, stem: str, document: Mapping[str, object]) -> Path:
    """Write to `<stem>.json`, or to `<stem>-2.json` and so on where that is taken."""
    draft = folder / f".{stem}.{os.getpid()}.{os.urandom(4).hex()}"
    write_json(draft, document, levels=3)
    try:
        for number in itertools.count(1):
            target = folder / (f"{stem}.json" if number == 1 else f"{stem}-{number}.json")
            try:
                os.link(draft, target)  # unlike a rename, refuses to replace another run's report
            except FileExistsError:
                continue
            except OSError:  # a file system without hard links: only a race can replace a report
                if target.exists():
                    continue
                os.replace(draft, target)
            return target
    finally:
        draft.unlink(missing_ok=True)
    raise AssertionError("itertools.count ended")


def _report(report: TestRunReport) -> Mapping[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "total_runs": report.total_runs,
        "passed": report.passed,
        "failed": report.failed,
        "undetermined": report.undetermined,
        "errors": report.errors,
        "duration_seconds": snapshot(report.duration_seconds),
        "metadata": snapshot(report.metadata),
        "population_summary": snapshot(asdict(report.population_summary())),
        "by_harm_category": {
            category: map(_result, results)
            for category, results in report.by_harm_category().items()
        },
        "trial_groups": [_group(group) for group in report.trial_groups],
        "utility_summary": _utility(report.utility_summary()),
    }


def _utility(summary: UtilitySummary | None) -> Json:
    if summary is None:
        return None
    return {
        **cast("JsonObject", snapshot(asdict(summary))),
        "attack_success_rate": summary.attack_success_rate,
        "benign_utility": summary.benign_utility,
        "utility_under_attack": summary.utility_under_attack,
    }


def _group(group: TrialGroupResult) -> JsonObject:
    shown = cast("JsonObject", snapshot(asdict(group)))
    return {
        **shown,
        "pass_rate": group.pass_rate,
        "verdict": _VERDICTS[group.passed],
    }


def _result(result: Result) -> JsonObject:
    document: dict[str, Any] = result_to_document(result)
    turns = [_turn(turn) for turn in document["turns"]]
    return {"safe": result.safe, **document, "turns": turns}


def _turn(document: dict[str, Any]) -> JsonObject:
    request, response, evaluation = (
        document[part] for part in ("request", "response", "eval_result")
    )
    shown: JsonObject = {
        "turn_number": document["turn_number"],
        "prompt": request["prompt"],
        "response_text": response["text"],
        "response_metadata": response["metadata"],
    }
    if evaluation is not None:
        shown |= {f"eval_{name}": value for name, value in evaluation.items()}
    seen_only_if_any = {
        "timestamp": document["timestamp"],
        "attachments": request["attachments"],
        "tool_calls": response["tool_calls"],
        "side_effects": response["side_effects"],
        "driver_reasoning": document["driver_reasoning"],
        "session_number": document["session_number"],
        "send_seconds": document["send_seconds"],
        "evaluate_seconds": document["evaluate_seconds"],
    }
    return shown | {name: value for name, value in seen_only_if_any.items() if value}
