"""Which judgements of a run no calibration covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from kensa.calibration_file import StoredCalibrations, read_calibrations
from seatrial.errors import UsageError
from seatrial.run import Run
from seatrial.snapshot import JsonObject
from seatrial.text import one_line

__all__ = ["calibration_remarks"]

_SHOWN = 5


def calibration_remarks(run: Run, files: Sequence[Path]) -> list[str]:
    """Lines for the summary: what is uncalibrated, stale or cannot be read; none without `files`."""
    if not files:
        return []
    stored: list[StoredCalibrations] = []
    remarks = []
    for path in files:
        try:
            stored.append(read_calibrations(path))
        except UsageError as error:
            remarks.append(f"calibrations not used: {one_line(str(error), limit=300)}")
    covered = {pair for one in stored if not one.is_stale for pair in one.covered}
    uncovered = Counter(pair for pair in _judged(run) if pair not in covered)
    if uncovered:
        remarks.append(_uncalibrated(uncovered))
    remarks += [
        f"calibrations are stale: the labels of {one_line(str(one.path), limit=200)} have changed"
        for one in stored
        if one.is_stale
    ]
    return remarks


def _judged(run: Run) -> Iterable[tuple[str, str]]:
    """Rubric and model of every judgement that a model gave."""
    for record in run.records:
        for judgement in record.judgements:
            metadata = judgement.get("metadata")
            if not isinstance(metadata, dict) or not isinstance(metadata.get("rubric"), str):
                continue
            for model in _models(judgement, metadata):
                yield str(metadata["rubric"]), model


def _models(judgement: JsonObject, metadata: JsonObject) -> list[str]:
    if judgement.get("provider") == "panel":  # as "openai:a, anthropic:b"
        return str(judgement.get("model")).split(", ")
    return [f"{judgement.get('provider')}:{judgement.get('model')}"]


def _uncalibrated(uncovered: Counter[tuple[str, str]]) -> str:
    shown = ", ".join(
        f"rubric {one_line(rubric, limit=16)} by {one_line(model, limit=60)} ({count})"
        for (rubric, model), count in uncovered.most_common(_SHOWN)
    )
    more = len(uncovered) - _SHOWN
    rest = f" and {more} more" if more > 0 else ""
    count = uncovered.total()
    return f"uncalibrated: {count} judgement{'s' if count > 1 else ''}: {shown}{rest}"
