"""The results file of one run, read back, and whether it shows that the evals are ready."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from kensa.results import SCHEMA_VERSION
from seatrial.errors import CodecError
from seatrial.snapshot import Json, JsonObject

__all__ = ["Readiness", "no_results", "read_results", "readiness", "rows"]

_READY = ("pass", "inconclusive")


def read_results(path: Path, run_id: str) -> JsonObject:
    """The results document of the run `run_id`.

    Raises:
        CodecError: If the file is missing, unreadable, of another run or of another schema.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CodecError(f"the run wrote no results: {path} does not exist") from None
    except (OSError, ValueError, RecursionError) as error:
        raise CodecError(f"the results in {path} cannot be read: {error}") from error
    if not isinstance(document, dict) or document.get("schema_version") != SCHEMA_VERSION:
        found = document.get("schema_version") if isinstance(document, dict) else None
        raise CodecError(
            f"the results in {path} have the schema {found!r}; this version reads {SCHEMA_VERSION!r}"
        )
    if document.get("run_id") != run_id:
        raise CodecError(
            f"the results in {path} are of the run {document.get('run_id')!r}, not {run_id!r}"
        )
    return document


def no_results(run_id: str, reason: str) -> JsonObject:
    """A results document that says why there are none, so that an older one is not taken for it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": run_id,
        "complete": False,
        "interruption": {"kind": "no_results", "message": reason},
        "trials": [],
        "aggregates": [],
    }


def rows(document: JsonObject, key: str) -> list[JsonObject]:
    """The objects in one of the document's lists."""
    listed = document.get(key)
    return [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []


@dataclass(frozen=True, slots=True)
class Readiness:
    """How many cases speak for the agent.

    Attributes:
        passing: Cases with the verdict pass or inconclusive, smoke tests not counted.
        smoke_passing: Smoke tests that passed; they prove the wiring only.
    """

    passing: int
    smoke_passing: int

    @property
    def ready(self) -> bool:
        """Whether at least one case that is no smoke test passed."""
        return self.passing > 0

    def document(self) -> dict[str, Json]:
        """The two readiness entries of a command's data."""
        return {
            "harness_readiness": {
                "ready": self.smoke_passing > 0 or self.ready,
                "smoke_eval_count": self.smoke_passing,
            },
            "evals_readiness": {"ready": self.ready, "passing_eval_count": self.passing},
        }


def readiness(document: JsonObject) -> Readiness:
    """What the run's verdicts say about readiness."""
    good = [row for row in rows(document, "aggregates") if row.get("verdict") in _READY]
    smoke = sum(row.get("smoke") is True for row in good)
    return Readiness(passing=len(good) - smoke, smoke_passing=smoke)
