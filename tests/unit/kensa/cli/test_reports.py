"""Report files that the user names."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

from kensa.cli.reports import prepare_report, write_report


def test_missing_folders_of_a_report_are_made_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = prepare_report(Path("a/b/eval.md"))
    assert path == tmp_path / "a" / "b" / "eval.md"
    assert write_report(path, "text\n") is None
    assert path.read_text(encoding="utf-8") == "text\n"


def test_a_folder_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(click.UsageError, match=r"file/eval\.md cannot be made"):
        prepare_report(tmp_path / "file" / "eval.md")


def test_a_link_keeps_pointing_to_the_file_that_it_names(tmp_path: Path) -> None:
    target, link = tmp_path / "real.md", tmp_path / "link.md"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert write_report(link, "new") is None
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    assert write_report(Path(f"/dev/fd/{writer}"), "through a pipe") is None
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        assert pipe.read() == "through a pipe"


def test_a_report_that_cannot_be_written_is_a_sentence_not_a_traceback(tmp_path: Path) -> None:
    problem = write_report(tmp_path / "gone" / "eval.md", "text")
    assert problem is not None
    assert "eval.md could not be written" in problem
