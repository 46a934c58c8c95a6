"""Outputs that people have judged, to compare a judge with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from seatrial.errors import UsageError
from seatrial.text import one_line

__all__ = ["Label", "read_labels"]

_KNOWN = ("output", "passed", "criteria", "input", "context", "trace", "id")
_LARGEST_LINE = 5_000_000
_MOST_LINES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One output and what a person said of it.

    Attributes:
        name: The line's `id`, or else its number, as in "line 3".
        passed: Whether the person found the criteria met.
    """

    name: str
    output: Any
    passed: bool
    criteria: str
    input: Any = None
    context: Any = None
    trace: Any = None

    @property
    def question(self) -> dict[str, Any]:
        """What the judge is asked."""
        return {
            "output": self.output,
            "criteria": self.criteria,
            "input": self.input,
            "trace": self.trace,
            "context": self.context,
        }


def read_labels(path: Path, *, criteria: str | None = None) -> tuple[Label, ...]:
    """The labels of a JSONL file; empty lines count as nothing.

    Args:
        path: Each line is an object with `output`, `passed` (true or false), `criteria`, and if need
            be `input`, `context`, `trace` and `id`.
        criteria: For lines without their own.

    Raises:
        UsageError: If the file cannot be read, has no label, or a line is none; names the line.
    """
    labels: dict[str, Label] = {}
    try:
        with path.open("rb") as file:
            for number, line in _lines(file, path):
                label = _label(line, number, path, criteria)
                if label.name in labels:
                    shown = one_line(label.name, limit=80)
                    raise UsageError(f"{path}, line {number}: the id {shown} was given before")
                labels[label.name] = label
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    if not labels:
        raise UsageError(f"{path} has no labels: expected one JSON object a line")
    return tuple(labels.values())


def _lines(file: IO[bytes], path: Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := file.readline(_LARGEST_LINE + 1):
        number += 1
        if len(line) > _LARGEST_LINE:
            raise UsageError(f"{path}, line {number}: longer than {_LARGEST_LINE:,} bytes")
        if number > _MOST_LINES:
            raise UsageError(f"{path}: more than {_MOST_LINES:,} lines")
        if line.strip():
            yield number, line


def _label(line: bytes, number: int, path: Path, criteria: str | None) -> Label:
    where = f"{path}, line {number}"
    try:
        document = json.loads(line, object_pairs_hook=_object, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not JSON: {error}") from None
    if not isinstance(document, dict):
        raise UsageError(f"{where}: expected an object, not a {type(document).__name__}")
    unknown = [name for name in document if name not in _KNOWN]
    if unknown:
        shown = one_line(unknown[0], limit=80)
        raise UsageError(f"{where}: unknown name {shown!r}; known are {', '.join(_KNOWN)}")
    if "output" not in document:
        raise UsageError(f"{where}: output is missing")
    if not isinstance(document.get("passed"), bool):
        raise UsageError(f"{where}: passed must be true or false")
    own = document.get("criteria", criteria)
    if not isinstance(own, str) or not own.strip():
        raise UsageError(f"{where}: criteria must be text, here or by --criteria")
    name = document.get("id", f"line {number}")
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise UsageError(f"{where}: id must be text or a whole number")
    return Label(
        name=str(name),
        output=document["output"],
        passed=document["passed"],
        criteria=own,
        input=document.get("input"),
        context=document.get("context"),
        trace=document.get("trace"),
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a name is given twice in one object")
    return document


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
