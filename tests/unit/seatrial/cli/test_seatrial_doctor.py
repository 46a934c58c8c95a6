"""`seatrial doctor`."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path

import pytest

from seatrial.cli.tree import main


@pytest.fixture
def collision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another distribution named rampart is installed."""
    metadata = tmp_path / "rampart-9.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: rampart\nVersion: 9\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


def test_a_sound_installation_exits_0_and_names_its_versions_and_extras(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == "seatrial.cli.v1"
    assert document["command"] == "doctor"
    data = document["data"]
    assert data["python"] == platform.python_version()
    assert data["versions"]["pytest"] == version("pytest")
    assert data["extras"]["xdist"] is True
    assert set(data["extras"]) == {"concurrency", "llm", "local", "xdist"}
    assert data["colliding_distributions"] == []


def test_the_lines_name_pytest_and_every_extra(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    written = capsys.readouterr().out
    assert f"pytest {version('pytest')}" in written
    assert "extra xdist: installed" in written
    assert written.endswith("the installation is sound\n")


@pytest.mark.usefixtures("collision")
def test_a_distribution_that_owns_our_package_exits_1_and_says_which_to_uninstall(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor"]) == 1
    written = capsys.readouterr()
    assert "error: the distribution rampart is installed" in written.err
    assert "next: pip uninstall rampart\n" in written.out
