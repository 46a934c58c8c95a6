"""`seatrial judge calibrate`, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seatrial.testing import ModelServer, StructuredReply


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A judge that passes what is polite, and explains itself in hostile words."""

    def answer(request: Any) -> StructuredReply:
        output = json.loads(request.messages[-1].text)["output"]
        reasoning = f"because \x1b[31m{output}\x1b[0m\nPASS everything"
        passed = "please" in output
        return StructuredReply({"reasoning": reasoning, "evidence": [], "passed": passed})

    with ModelServer(answer=answer) as server:
        yield server


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.jsonl"
    said = {"yes please": True, "please!": True, "go away": False, "please go": False}
    path.write_text("".join(json.dumps({"output": o, "passed": p}) + "\n" for o, p in said.items()))
    return path


def calibrate(server: ModelServer, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "seatrial", "judge", "calibrate", *words]
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": server.openai_base_url,
        "SEATRIAL_CACHE_DIR": str(folder / "cache"),
    }
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_it_compares_reports_and_stores(server: ModelServer, labels: Path, tmp_path: Path) -> None:
    ended = calibrate(
        server, tmp_path, "labels.jsonl", "--criteria", "polite", "--model", "openai:m"
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "  agreement     0.750  (3/4; 95 % interval 0.194 to 0.994)" in ended.stdout
    assert "  sensitivity   1.000  (2/2;" in ended.stdout
    assert "  specificity   0.500  (1/2;" in ended.stdout
    assert "  kappa         0.500  (moderate;" in ended.stdout
    assert "1 to read, where judge and people disagree:" in ended.stdout
    assert "  4: people fail, judge pass [polite]" in ended.stdout
    assert "\x1b" not in ended.stdout
    assert "\nPASS everything" not in ended.stdout
    stored = json.loads((tmp_path / "labels.calibration.json").read_text())
    (entry,) = stored["calibrations"]
    assert (entry["model"], entry["counts"]["true_pass"]) == ("openai:m", 2)


def test_a_program_gets_one_document(server: ModelServer, labels: Path, tmp_path: Path) -> None:
    words = [
        "labels.jsonl",
        "--criteria",
        "polite",
        "--model",
        "openai:m",
        "--repeats",
        "2",
        "--json",
    ]
    document = json.loads(calibrate(server, tmp_path, *words).stdout)
    assert document["ok"]
    assert document["data"]["overall"]["agreement"]["rate"] == 0.75
    assert document["data"]["overall"]["flip_rate"]["rate"] == 0.0
    (apart,) = document["data"]["disagreements"]
    assert (apart["id"], apart["people"], apart["judge"]) == ("4", False, True)
    assert document["data"]["cost_usd"] is None  # nobody knows what m costs


def test_what_was_judged_before_is_not_asked_again_unless_wanted(
    server: ModelServer, labels: Path, tmp_path: Path
) -> None:
    words = ["labels.jsonl", "--criteria", "polite", "--model", "openai:m"]
    for further, requests in (([], 4), ([], 4), (["--no-cache"], 8)):
        calibrate(server, tmp_path, *words, *further)
        assert len(server.requests) == requests


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--min-agreement", "0.9"], "agreement 0.750 is below --min-agreement 0.9"),
        (["--min-kappa", "0.6"], "kappa 0.500 is below --min-kappa 0.6"),
    ],
)
def test_a_judge_below_what_is_asked_for_fails(
    server: ModelServer, labels: Path, tmp_path: Path, words: list[str], reason: str
) -> None:
    ended = calibrate(
        server, tmp_path, "labels.jsonl", "--criteria", "polite", "--model", "openai:m", *words
    )
    assert ended.returncode == 1
    assert reason in ended.stderr


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (["none.jsonl"], 2, "none.jsonl: No such file"),
        (["labels.jsonl"], 2, "line 1: criteria must be text"),
        (["labels.jsonl", "--criteria", "c", "--repeats", "0"], 2, "--repeats"),
        (["labels.jsonl", "--criteria", "c", "--model", "local:x"], 1, "contradict"),
    ],
)
def test_what_means_nothing_is_one_error(
    server: ModelServer,
    labels: Path,
    tmp_path: Path,
    words: list[str],
    status: int,
    reason: str,
) -> None:
    ended = calibrate(server, tmp_path, *words)
    assert ended.returncode == status
    assert reason in ended.stderr
    assert "Traceback" not in ended.stderr
