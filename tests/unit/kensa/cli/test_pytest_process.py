"""pytest in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from kensa.cli.pytest_process import OUTPUT_LIMIT, run_pytest

PLAIN = ("-q", "-p", "no:cacheprovider", "-p", "no:seatrial", "-p", "no:kensa", "-p", "no:rampart")


def run(folder: Path, body: str, run_id: str | None = None, *options: str) -> tuple[int, str]:
    (folder / "test_it.py").write_text(body, encoding="utf-8")
    end = run_pytest([*PLAIN, *options], folder=folder, run_id=run_id, capture=True)
    assert not end.interrupted
    return end.returncode, end.stdout


def test_the_exit_status_and_the_output_are_pytests(tmp_path: Path) -> None:
    status, output = run(tmp_path, "def test_a(): assert 1 == 2")
    assert status == 1
    assert "assert 1 == 2" in output


def test_the_run_gets_its_name_through_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "import os\ndef test_a(): print(os.environ.get('SEATRIAL_RUN_ID', 'none'))"
    assert "run-7\n" in run(tmp_path, body, "run-7", "-s")[1]
    monkeypatch.setenv("SEATRIAL_RUN_ID", "of an outer run")
    assert "none\n" in run(tmp_path, body, None, "-s")[1]


def test_a_signal_that_ends_pytest_is_128_and_its_number(tmp_path: Path) -> None:
    status, _ = run(
        tmp_path, "import os, signal\ndef test_a(): os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert status == 128 + 9


def test_captured_output_keeps_its_end_and_counts_the_rest(tmp_path: Path) -> None:
    body = f"def test_a(): print('x' * {OUTPUT_LIMIT * 3})"
    _, output = run(tmp_path, body, None, "-s")
    assert len(output) < OUTPUT_LIMIT + 100
    assert output.startswith("[")
    assert "bytes dropped]" in output[:40]
    assert "1 passed" in output


def test_output_that_is_no_text_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    body = "import os\ndef test_a(): os.write(1, b'before\\xffafter')"
    assert "before\ufffdafter" in run(tmp_path, body, None, "-s")[1]
