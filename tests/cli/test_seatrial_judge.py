"""`seatrial judge calibrate`, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seatrial.testing import ErrorReply, ModelServer, ReceivedRequest, Reply, StructuredReply


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A judge that passes what is polite, and explains itself in hostile words."""

    def answer(request: ReceivedRequest) -> StructuredReply:
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
    assert "  line 4: people fail, judge pass [polite]" in ended.stdout
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
    assert (apart["id"], apart["people"], apart["judge"]) == ("line 4", False, True)
    assert document["data"]["cost_usd"] is None  # nobody knows what m costs
    assert (document["data"]["calls"], document["data"]["unable"]) == (8, [])


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
        (["labels.jsonl", "--criteria", "c", "--repeats", "101"], 2, "--repeats"),
        (["labels.jsonl", "--criteria", "c", "--min-kappa", "nan"], 2, "nan is no number"),
        (["labels.jsonl", "--criteria", "c", "--min-agreement", "nan"], 2, "nan is no number"),
        (["labels.jsonl", "--criteria", "c", "--min-agreement", "90"], 2, "--min-agreement"),
        (["labels.jsonl", "--criteria-file", "latin-1.txt"], 2, "latin-1.txt is no UTF-8"),
        (["labels.jsonl", "--criteria", "c", "--criteria-file", "latin-1.txt"], 2, "not both"),
        (["foreign.jsonl", "--criteria", "c"], 2, "foreign.calibration.json is no file of"),
        ([".", "--criteria", "c"], 2, "Is a directory"),
        (["labels.jsonl", "--criteria", "c", "--model", "local:x"], 2, "contradict"),
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
    (tmp_path / "latin-1.txt").write_bytes(b"caf\xe9")
    (tmp_path / "foreign.jsonl").write_bytes(labels.read_bytes())
    (tmp_path / "foreign.calibration.json").write_text("{}")
    ended = calibrate(server, tmp_path, *words)
    assert ended.returncode == status
    assert reason in ended.stderr
    assert "Traceback" not in ended.stderr
    assert server.requests == []  # nothing was spent on it


def test_a_judge_that_can_tell_nothing_fails_and_stores_nothing(
    labels: Path, tmp_path: Path
) -> None:
    with ModelServer(answer=ErrorReply(status=400)) as server:
        words = ["labels.jsonl", "--criteria", "polite", "--model", "openai:m"]
        ended = calibrate(server, tmp_path, *words, "--min-agreement", "0")
    assert ended.returncode == 1
    assert "could not tell 4 of 4" in ended.stderr
    assert "agreement cannot be computed, so --min-agreement 0 is not met" in ended.stderr
    assert ended.stdout.endswith("nothing was stored\n")
    assert not (tmp_path / "labels.calibration.json").exists()


def test_outputs_that_the_judge_could_not_tell_count_apart(labels: Path, tmp_path: Path) -> None:
    def answer(request: ReceivedRequest) -> Reply:
        if "please!" in request.messages[-1].text:
            return ErrorReply(status=400, message="\x1b[2J down")
        return StructuredReply({"reasoning": "r", "evidence": [], "passed": False})

    with ModelServer(answer=answer) as server:
        words = ["labels.jsonl", "--criteria", "polite", "--model", "openai:m"]
        ended = calibrate(server, tmp_path, *words)
    assert ended.returncode == 0
    assert "  agreement     0.667  (2/3;" in ended.stdout
    assert "  could not tell           1\n" in ended.stdout
    assert "warning: the judge could not tell 1 of 4" in ended.stderr
    assert "\x1b" not in ended.stderr


def test_what_was_judged_is_shown_although_it_cannot_be_stored(
    labels: Path, tmp_path: Path
) -> None:
    def answer(request: ReceivedRequest) -> Reply:
        (tmp_path / "labels.calibration.json").mkdir(exist_ok=True)  # comes up meanwhile
        return StructuredReply({"reasoning": "r", "evidence": [], "passed": True})

    with ModelServer(answer=answer) as server:
        words = ["labels.jsonl", "--criteria", "polite", "--model", "openai:m"]
        ended = calibrate(server, tmp_path, *words)
    assert ended.returncode == 1
    assert "  agreement     0.500  (2/4;" in ended.stdout
    assert "error: the calibration could not be stored: " in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_command_kensa_has_it_too(labels: Path, tmp_path: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "kensa", "judge", "calibrate", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "--min-kappa" in shown.stdout
