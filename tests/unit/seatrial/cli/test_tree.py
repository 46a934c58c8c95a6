"""One tree of commands, which faces add to."""

from __future__ import annotations

from pathlib import Path

import pytest

from seatrial.cli.tree import main


@pytest.fixture
def extra_face(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution that adds commands: good, broken, wrong, and one named as ours."""
    metadata = tmp_path / "extra_face-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: extra-face\nVersion: 1\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(
        "[seatrial.commands]\ngreet = extra_face:greet\nbroken = extra_face_missing:command\n"
        "wrong = extra_face:number\ndoctor = extra_face:greet\n",
        encoding="utf-8",
    )
    (tmp_path / "extra_face.py").write_text(
        "import click\nnumber = 3\n"
        "@click.command()\ndef greet():\n    click.echo('hello from a face')\n    return 5\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("extra_face")
def test_a_face_adds_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["greet"]) == 5
    assert capsys.readouterr().out == "hello from a face\n"


@pytest.mark.usefixtures("extra_face")
def test_help_lists_added_commands_even_when_one_cannot_be_loaded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--help"]) == 0
    written = capsys.readouterr().out
    for name in ("doctor", "greet", "broken", "wrong"):
        assert f"\n  {name}" in written


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("broken", "No module named 'extra_face_missing'"),
        ("wrong", "is a int, not a click.Command"),
    ],
)
@pytest.mark.usefixtures("extra_face")
def test_a_command_that_cannot_be_loaded_says_why(
    name: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name]) == 1
    error = capsys.readouterr().err
    assert f"the command {name}" in error
    assert reason in error


@pytest.mark.usefixtures("extra_face")
def test_a_face_cannot_take_the_name_of_an_engine_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor"]) == 0
    assert "the installation is sound" in capsys.readouterr().out


def test_the_evals_face_is_in_the_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--help"]) == 0
    assert (
        "Usage: seatrial eval [OPTIONS] [PATHS]... [-- PYTEST_ARGS...]" in capsys.readouterr().out
    )


def test_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate"]) == 2
    assert "No such command 'evaluate'" in capsys.readouterr().err
