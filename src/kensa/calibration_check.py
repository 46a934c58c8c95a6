"""Which judgements of a run no calibration covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path

from kensa.calibration_file import StoredCalibrations, read_calibrations
from seatrial.errors import UsageError
from seatrial.run import Run
from seatrial.snapshot import JsonObject
from seatrial.text import one_line

__all__ = ["calibration_remarks"]

_SHOWN = 5


def calibration_remarks(run: Run, root: Path, patterns: Sequence[str]) -> list[str]:
    """Lines for the summary: judgements without a calibration, and files that are of no use.

    Args:
        root: What the patterns are relative to.
        patterns: Of files of calibrations, as `glob` takes them.
    """
    remarks = []
    found: set[Path] = set()
    for pattern in patterns:
        paths = {root / name for name in glob(pattern, root_dir=root, recursive=True)}
        files = {path for path in paths if path.is_file()}
        if not files:
            remarks.append(f"calibrations not found: {one_line(pattern, limit=200)}")
        found |= files
    stored: list[StoredCalibrations] = []
    for path in sorted(found):
        try:
            stored.append(read_calibrations(path))
        except UsageError as error:
            remarks.append(f"calibrations not used: {one_line(str(error), limit=300)}")
    remarks += [_stale(one) for one in stored if one.stale]
    return [*_uncalibrated(run, stored), *remarks]


def _stale(stored: StoredCalibrations) -> str:
    count = len(stored.stale)
    return (
        f"calibrations are stale: {count} in {one_line(str(stored.path), limit=200)},"
        " whose labels have changed since"
    )


def _uncalibrated(run: Run, stored: Sequence[StoredCalibrations]) -> list[str]:
    """One line, if there is any calibration at all and it does not cover everything."""
    if not any(one.covered or one.stale for one in stored):
        return []
    covered = {pair for one in stored for pair in one.covered}
    criteria = {rubric: text for one in stored for rubric, text in one.criteria.items()}
    counts: Counter[tuple[str, str]] = Counter()
    places: dict[str, str] = {}
    for place, rubric, model in _judged(run):
        if (rubric, model) not in covered:
            counts[rubric, model] += 1
            places.setdefault(rubric, place)
    if not counts:
        return []
    shown = [
        f"{_named(rubric, criteria.get(rubric), places[rubric])} by {one_line(model, limit=60)} ({count})"
        for (rubric, model), count in counts.most_common(_SHOWN)
    ]
    if len(counts) > _SHOWN:
        shown.append(f"and {len(counts) - _SHOWN} more")
    total = counts.total()
    return [f"uncalibrated: {total} judgement{'s' if total > 1 else ''}: {', '.join(shown)}"]


def _named(rubric: str, criteria: str | None, place: str) -> str:
    """Criteria by their first words; by where they are used, if no calibration knows them."""
    if criteria is not None:
        return f'"{one_line(criteria, limit=60)}"'
    return f"rubric {one_line(rubric, limit=16)} of {one_line(place, limit=120)}"


def _judged(run: Run) -> Iterator[tuple[str, str, str]]:
    """Trial group, rubric and model of every judgement that a model gave."""
    for record in run.records:
        for judgement in record.judgements:
            metadata = judgement.get("metadata")
            if judgement.get("error") or not isinstance(metadata, dict) or "rubric" not in metadata:
                continue
            for model in _models(judgement, metadata):
                yield record.key.group.label, str(metadata["rubric"]), model


def _models(judgement: JsonObject, metadata: JsonObject) -> list[str]:
    """Who gave it: one model, or each that voted in a panel."""
    panel = metadata.get("panel")
    if not isinstance(panel, dict):
        return [f"{judgement.get('provider')}:{judgement.get('model')}"]
    votes = panel.get("votes")
    voices = [vote for vote in votes if isinstance(vote, dict)] if isinstance(votes, list) else []
    return list(dict.fromkeys(str(vote["model"]) for vote in voices if "model" in vote))
