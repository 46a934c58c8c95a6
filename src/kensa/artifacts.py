"""The files that a run of evals leaves in its artifact folder."""

from __future__ import annotations

import json
from pathlib import Path

from kensa.results import results_document, trace_rows
from seatrial.files import make_private_folder, write_atomic, write_json
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
    row = json.JSONEncoder(sort_keys=True, allow_nan=False)
    lines = (f"{row.encode(document)}\n" for document in trace_rows(run))
    write_atomic(traces / "trials.jsonl", lines)
    results = make_private_folder(folder / "results") / f"{run.run_id}.json"
    write_json(results, results_document(run), levels=2)
    return results
