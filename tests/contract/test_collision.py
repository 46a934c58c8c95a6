"""PyPI projects whose packages are named like ours are refused, not mixed with ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def install(folder: Path, name: str) -> None:
    """Make `folder`, on the path, look as if another project of that name were installed."""
    metadata = folder / f"{name}-0.9.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.9\n")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    project = folder / "project"
    project.mkdir()
    (project / "test_it.py").write_text("def test_it(): print('RAN')")
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(folder / "installed")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (["kensa"], "kensa from PyPI"),
        (["rampart"], "rampart from PyPI"),
        (["kensa", "rampart"], "rampart and kensa from PyPI"),
    ],
)
def test_pytest_stops_with_one_error_that_says_what_to_uninstall(
    tmp_path: Path, names: list[str], listed: str
) -> None:
    for name in names:
        install(tmp_path / "installed", name)
    ended = run(tmp_path, "pytest", "-s")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    (error,) = ended.stderr.strip().splitlines()
    assert error.startswith(
        f"ERROR: seatrial provides the packages rampart and kensa, but {listed}"
    )
    assert f"pip uninstall {' '.join(sorted(names, reverse=True))};" in error
    assert "RAN" not in ended.stdout


def test_without_another_project_the_same_suite_runs(tmp_path: Path) -> None:
    install(tmp_path / "installed", "kensa_tools")
    ended = run(tmp_path, "pytest", "-s")
    assert ended.returncode == pytest.ExitCode.OK
    assert "RAN" in ended.stdout


def test_the_doctor_reports_a_collision(tmp_path: Path) -> None:
    install(tmp_path / "installed", "kensa")
    ended = run(tmp_path, "seatrial", "doctor")
    assert ended.returncode == 1
    assert "pip uninstall kensa" in ended.stdout + ended.stderr
