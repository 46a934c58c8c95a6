"""From the words on the command line to an exit status."""

from __future__ import annotations

import click
import pytest

from seatrial.cli.invocation import invoke
from seatrial.errors import UsageError


@click.command()
@click.argument("how")
@click.version_option("1.2.3", message="%(version)s")
def sample(how: str) -> int | None:
    if how == "interrupted":
        raise KeyboardInterrupt
    if how == "ours":
        raise UsageError("n=\x1b[31m is no number")
    if how == "click":
        raise click.ClickException("cannot")
    return {"seven": 7}.get(how)


@pytest.mark.parametrize(
    ("argv", "status", "said"),
    [
        (["seven"], 7, ""),
        (["nothing to say"], 0, ""),
        ([], 2, "Missing argument 'HOW'"),
        (["--nope", "x"], 2, "No such option"),
        (["click"], 1, "cannot"),
        (["ours"], 1, r"Error: n=\x1b[31m is no number"),
        (["interrupted"], 130, "Interrupted."),
    ],
)
def test_every_end_has_its_status_and_its_words(
    argv: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(sample, argv, "sample") == status
    assert said in capsys.readouterr().err


def test_without_words_those_of_the_process_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["sample", "--version"])
    assert invoke(sample, None, "sample") == 0
    assert capsys.readouterr().out == "1.2.3\n"
