"""The files that a run of evals leaves in its artifact folder."""

from __future__ import annotations

import json
from pathlib import Path

from kensa.results import results_document, trace_rows
from seatrial.files import make_private_folder, write_atomic
from seatrial.run import Run

__all__ = ["write_artifacts"]


def write_artifacts(run: Run, folder: Path) -> Path:
    """Write `results/<run_id>.json` and the trials' traces below `folder`, whole or not at all.

    Returns:
        The results file.

    Raises:
        OSError: If a folder or file cannot be written.
    """
    make_private_folder(folder)
    # Private even where the folder is the project's own: they hold what users told the agent.
    traces = make_private_folder(folder / "traces") / "runs" / run.run_id
    traces.mkdir(parents=True, exist_ok=True)
    rows = (json.dumps(row, sort_keys=True, allow_nan=False) for row in trace_rows(run))
    write_atomic(traces / "trials.jsonl", "".join(f"{row}\n" for row in rows))
    results = make_private_folder(folder / "results") / f"{run.run_id}.json"
    text = json.dumps(results_document(run), indent=2, allow_nan=False)
    write_atomic(results, f"{text}\n")
    return results
