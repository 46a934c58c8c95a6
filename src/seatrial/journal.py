"""The journal: an append-only file of what a run did, written as each trial ends.

Each line is a CRC-32 of its document in eight hex digits, a space, and the document. A line that
was being written when the process died fails its check and is dropped; all earlier ones stand.
Writes go straight to the operating system, so what was appended survives a killed process.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from seatrial.files import make_private_folder

__all__ = ["Journal", "JournalLines", "prune_runs", "read_journal"]

_FILE = "journal.jsonl"
RUNS_KEPT = 20


class Journal:
    """The writing end; one process writes one run's journal."""

    def __init__(self, runs: Path, run_id: str) -> None:
        """Open the journal of `run_id` in the folder `runs`, which is created if missing.

        Raises:
            OSError: If the folder or the file cannot be written.
        """
        make_private_folder(runs)
        folder = runs / run_id
        folder.mkdir(mode=0o700, exist_ok=True)
        self.path = folder / _FILE
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._end_torn_line()

    def append(self, document: str) -> None:
        """Append one document: a line of ASCII, such as the codec's.

        Raises:
            OSError: If it could not be written whole, as on a full disk.
            ValueError: If the document is no such line.
        """
        line = document.encode("ascii")
        if b"\n" in line:
            raise ValueError(f"a journal's document is one line, got {document[:80]!r}")
        data = b"%08x %s\n" % (crc32(line), line)
        written = os.write(self._handle, data)
        while written < len(data):
            written += os.write(self._handle, data[written:])

    def started(self, nodeid: str) -> None:
        """Note that a trial is about to begin, before its set-up."""
        self.append(json.dumps({"kind": "started", "nodeid": nodeid}))

    def _end_torn_line(self) -> None:
        """Keep what a killed process left half written from swallowing the next document."""
        size = os.lseek(self._handle, 0, os.SEEK_END)
        if size == 0:
            return
        os.lseek(self._handle, size - 1, os.SEEK_SET)
        if os.read(self._handle, 1) != b"\n":
            os.write(self._handle, b"\n")

    def close(self) -> None:
        """Close the file; further appends fail."""
        os.close(self._handle)


class JournalLines(NamedTuple):
    """What could be read of a journal.

    Attributes:
        documents: Every whole document, in order.
        dropped: How many lines failed their check.
    """

    documents: tuple[str, ...]
    dropped: int


def read_journal(path: Path) -> JournalLines:
    """Read a journal, whole or torn.

    Raises:
        OSError: If the file cannot be read.
    """
    documents, dropped = [], 0
    for document in _checked_lines(path):
        if document is None:
            dropped += 1
        else:
            documents.append(document)
    return JournalLines(tuple(documents), dropped)


def _checked_lines(path: Path) -> Iterator[str | None]:
    with path.open("rb") as file:
        for line in file:
            check, space, document = line.removesuffix(b"\n").partition(b" ")
            whole = line.endswith(b"\n") and space and check == b"%08x" % crc32(document)
            yield document.decode("ascii") if whole and document.isascii() else None


def prune_runs(runs: Path, *, keep: int = RUNS_KEPT) -> None:
    """Delete all but the `keep` newest runs in the folder `runs`; run ids sort by time."""
    folders = sorted(path.parent for path in runs.glob(f"*/{_FILE}"))
    for folder in folders[:-keep]:
        shutil.rmtree(folder, ignore_errors=True)
