"""Report files that the user names."""

from __future__ import annotations

import json
from pathlib import Path

import click

from seatrial.files import write_atomic
from seatrial.snapshot import JsonObject

__all__ = ["prepare_report", "render_json", "write_report"]


def render_json(document: JsonObject) -> str:
    """The results document as it stands in the artifact folder."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def prepare_report(path: Path) -> Path:
    """Make the folder of a report before the run, so that a wrong path costs no trials.

    Returns:
        The absolute path.

    Raises:
        click.UsageError: If the folder cannot be made.
    """
    target = path.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(
            f"the folder of the report {path} cannot be made: {error}"
        ) from error
    return target


def write_report(path: Path, text: str) -> str | None:
    """Write a report, whole or not at all; why that failed, or None."""
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")  # a pipe or a terminal: nothing to replace
        else:
            write_atomic(path.resolve(), text)
    except OSError as error:
        return f"the report {path} could not be written: {error}"
    return None
