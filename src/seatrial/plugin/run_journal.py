"""Where a session's journal is, and what happens when it cannot be written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from seatrial.journal import Journal, prune_runs
from seatrial.plugin.stopping import stop_session

__all__ = ["RunJournal"]


class RunJournal:
    """The journal of one session; opened when there is something to write."""

    def __init__(self, config: pytest.Config, run_id: str) -> None:
        """Keep the journal of `run_id` in pytest's cache, or in a temporary folder without one."""
        self._config = config
        self._run_id = run_id
        self._journal: Journal | None = None
        self.problems: list[str] = []
        """What could not be written, a sentence each."""

    def append(self, document: str, what: str) -> None:
        """Append a document; `what` names it should that fail."""
        self._write(lambda journal: journal.append(document), what)

    def started(self, nodeid: str) -> None:
        """Note that a trial begins."""
        self._write(lambda journal: journal.started(nodeid), f"the start of {nodeid}")

    def close(self) -> None:
        """Close the file, if it was opened."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _write(self, write: Callable[[Journal], None], what: str) -> None:
        if self.problems:
            return  # the run is being stopped; more errors would say nothing new
        try:
            if self._journal is None:
                self._journal = self._open()
            write(self._journal)
        except OSError as error:
            self.problems.append(f"the journal could not take {what}: {error}")
            stop_session(self._config, self.problems[0])

    def _open(self) -> Journal:
        try:
            journal = Journal(_runs_folder(self._config), self._run_id)
        except OSError:
            # A read-only checkout is no reason to lose a run.
            journal = Journal(_fallback_folder(), self._run_id)
        prune_runs(journal.path.parent.parent)
        return journal


def _runs_folder(config: pytest.Config) -> Path:
    cache = getattr(config, "cache", None)
    return _fallback_folder() if cache is None else Path(cache.mkdir("seatrial-runs"))


def _fallback_folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"seatrial-runs-{user}"
