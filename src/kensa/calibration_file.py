"""Calibrations, kept beside the labels that they rest on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kensa.calibration import Calibration
from seatrial.errors import UsageError
from seatrial.files import write_json
from seatrial.snapshot import JsonObject

__all__ = ["StoredCalibrations", "path_beside", "read_calibrations", "store_calibrations"]

SCHEMA = "kensa.calibration.v1"
SUFFIX = ".calibration.json"
_LARGEST = 20_000_000


@dataclass(frozen=True, slots=True)
class StoredCalibrations:
    """What one file says.

    Attributes:
        covered: Rubric and model of every calibration in it.
        is_stale: Whether the labels have changed since, or are gone.
    """

    path: Path
    covered: frozenset[tuple[str, str]]
    is_stale: bool


def path_beside(labels: Path) -> Path:
    """Where the calibrations of a file of labels are: `labels.jsonl` has `labels.calibration.json`."""
    return labels.with_name(labels.stem + SUFFIX)


def store_calibrations(labels: Path, calibrations: Sequence[Calibration]) -> Path:
    """Write calibrations beside their labels; those of other rubrics or models there stay.

    Raises:
        UsageError: If the file there is something else.
        OSError: If it cannot be written.
    """
    path = path_beside(labels)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    new = {(c.rubric, c.model): {**c.document(), "calibrated_at": now} for c in calibrations}
    kept = [
        entry
        for entry in (_entries(_document(path)) if path.exists() else ())
        if (entry.get("rubric"), entry.get("model")) not in new
    ]
    write_json(
        path,
        {
            "schema_version": SCHEMA,
            "labels": labels.name,
            "labels_sha256": _digest(labels),
            "calibrations": [*kept, *new.values()],
        },
        levels=2,
    )
    return path


def read_calibrations(path: Path) -> StoredCalibrations:
    """What a file of calibrations covers.

    Raises:
        UsageError: If it cannot be read as one.
    """
    document = _document(path)
    labels = path.parent / Path(str(document.get("labels", ""))).name
    try:
        is_stale = _digest(labels) != document.get("labels_sha256")
    except OSError:
        is_stale = True
    entries = _entries(document)
    covered = frozenset((str(entry.get("rubric")), str(entry.get("model"))) for entry in entries)
    return StoredCalibrations(path, covered, is_stale)


def _document(path: Path) -> JsonObject:
    try:
        if path.stat().st_size > _LARGEST:
            raise UsageError(f"{path} is larger than {_LARGEST:,} bytes: no calibrations of ours")
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {error}") from None
    if not isinstance(document, dict) or document.get("schema_version") != SCHEMA:
        raise UsageError(f"{path} is no file of calibrations: schema_version is not {SCHEMA}")
    return document


def _entries(document: JsonObject) -> Iterable[JsonObject]:
    entries = document.get("calibrations")
    items = entries if isinstance(entries, list) else []
    return [entry for entry in items if isinstance(entry, dict)]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
