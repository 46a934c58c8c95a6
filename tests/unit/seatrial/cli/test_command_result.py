"""What a command says at its end."""

from __future__ import annotations

import json

import pytest

from seatrial.cli.command_result import CommandResult

RESULT = CommandResult(
    command="eval",
    exit_code=1,
    summary="1/2 passed \x1b[2J",
    lines=("a line",),
    data={"run_id": "r", "name": "\ud800"},
    warnings=("look",),
    errors=("FAIL a\rPASS a",),
    next_steps=("try",),
)


def test_the_document_has_the_ten_keys_and_nothing_beside_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    RESULT.show(as_json=True, schema="kensa.cli.v1")
    written = capsys.readouterr()
    assert written.err == ""
    assert json.loads(written.out) == {
        "schema_version": "kensa.cli.v1",
        "command": "eval",
        "ok": False,
        "exit_code": 1,
        "summary": "1/2 passed \x1b[2J",
        "data": {"run_id": "r", "name": "\ud800"},
        "warnings": ["look"],
        "errors": ["FAIL a\rPASS a"],
        "next_steps": ["try"],
    }


def test_a_reader_gets_lines_with_trouble_on_stderr_and_nothing_can_move_the_cursor(
    capsys: pytest.CaptureFixture[str],
) -> None:
    RESULT.show(as_json=False, schema="kensa.cli.v1")
    written = capsys.readouterr()
    assert written.out == "a line\n1/2 passed \\x1b[2J\nnext: try\n"
    assert written.err == "warning: look\nerror: FAIL a\\rPASS a\n"


def test_ok_is_exit_status_zero(capsys: pytest.CaptureFixture[str]) -> None:
    CommandResult(command="doctor", exit_code=0, summary="fine").show(as_json=True, schema="s")
    assert json.loads(capsys.readouterr().out)["ok"] is True
