"""Calibrations, kept beside the labels that they rest on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kensa.calibration import Calibration
from seatrial.errors import UsageError
from seatrial.files import write_json
from seatrial.snapshot import JsonObject

__all__ = [
    "StoredCalibrations",
    "digest_of",
    "path_beside",
    "read_calibrations",
    "store_calibrations",
]

SCHEMA = "kensa.calibration.v1"
SUFFIX = ".calibration.json"
_LARGEST = 20_000_000


@dataclass(frozen=True, slots=True)
class StoredCalibrations:
    """What one file says.

    Attributes:
        covered: Rubric and model of every calibration that holds.
        stale: Of those whose labels have changed since, or are gone.
        criteria: By rubric.
    """

    path: Path
    covered: frozenset[tuple[str, str]]
    stale: frozenset[tuple[str, str]]
    criteria: Mapping[str, str]


def path_beside(labels: Path) -> Path:
    """Where the calibrations of a file of labels are: `labels.jsonl` has `labels.calibration.json`.

    Raises:
        UsageError: If there is something else, or those of other labels.
    """
    path = labels.with_name(labels.stem + SUFFIX)
    if path.exists():
        owner = _document(path).get("labels")
        if owner != labels.name:
            raise UsageError(f"{path} holds calibrations of {owner!r}, not of {labels.name!r}")
    return path


def digest_of(labels: Path) -> str:
    """SHA-256 of a file of labels, in hexadecimal digits.

    Raises:
        OSError: If it cannot be read.
    """
    with labels.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def store_calibrations(labels: Path, digest: str, calibrations: Sequence[Calibration]) -> Path:
    """Write calibrations beside their labels; those of other rubrics or models there stay.

    One in which the judge could tell of no output is nothing to rest on and is not written.

    Args:
        digest: Of the labels as they were judged.

    Raises:
        UsageError: As for `path_beside`.
        OSError: If the file cannot be written.
    """
    path = path_beside(labels)
    said = {
        "labels_sha256": digest,
        "calibrated_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    new = {(c.rubric, c.model): {**c.document(), **said} for c in calibrations if c.judged}
    old = _entries(_document(path)) if path.exists() else []
    kept = [entry for entry in old if _pair(entry) not in new]
    write_json(
        path,
        {
            "schema_version": SCHEMA,
            "labels": labels.name,
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
    try:
        digest = digest_of(path.parent / Path(str(document.get("labels"))).name)
    except (OSError, ValueError):  # no such file, or a name that none can have
        digest = None
    entries = _entries(document)
    covered = frozenset(
        _pair(entry) for entry in entries if digest and entry.get("labels_sha256") == digest
    )
    return StoredCalibrations(
        path,
        covered,
        frozenset(_pair(entry) for entry in entries) - covered,
        {str(entry.get("rubric")): str(entry.get("criteria")) for entry in entries},
    )


def _pair(entry: JsonObject) -> tuple[str, str]:
    return str(entry.get("rubric")), str(entry.get("model"))


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


def _entries(document: JsonObject) -> list[JsonObject]:
    entries = document.get("calibrations")
    items = entries if isinstance(entries, list) else []
    return [entry for entry in items if isinstance(entry, dict)]
