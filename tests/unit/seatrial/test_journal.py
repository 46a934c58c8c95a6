"""The journal: what was appended is there, what was torn is dropped and counted."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from seatrial.journal import Journal, prune_runs, read_journal


def test_documents_come_back_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs", "r1")
    journal.append('{"n": 1}')
    journal.started("test_x.py::test\ud800[é]")
    journal.close()
    lines = read_journal(journal.path)
    assert [json.loads(document) for document in lines.documents] == [
        {"n": 1},
        {"kind": "started", "nodeid": "test_x.py::test\ud800[é]"},
    ]
    assert lines.dropped == 0


def test_what_was_appended_is_in_the_file_before_it_is_closed(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "r1")
    journal.append("{}")
    assert read_journal(journal.path).documents == ("{}",)
    journal.close()


def test_a_damaged_line_in_the_middle_is_dropped_and_counted(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "r1")
    for n in range(3):
        journal.append(f'{{"n": {n}}}')
    journal.close()
    content = journal.path.read_bytes()
    journal.path.write_bytes(content.replace(b'{"n": 1}', b'{"n": 7}'))
    assert read_journal(journal.path) == (('{"n": 0}', '{"n": 2}'), 1)


@pytest.mark.parametrize("line", [b"\n", b"no check\n", b"\xff\xfe\x00\n", b"00000000\n", b" \n"])
def test_a_line_that_nobody_wrote_is_no_document(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(line)
    assert read_journal(path) == ((), 1)


def test_appending_to_a_torn_journal_loses_no_later_document(tmp_path: Path) -> None:
    first = Journal(tmp_path, "r1")
    first.append("{}")
    first.append("[]")
    first.close()
    first.path.write_bytes(first.path.read_bytes()[:-4])
    again = Journal(tmp_path, "r1")
    again.append('"later"')
    again.close()
    assert read_journal(again.path) == (("{}", '"later"'), 1)


def test_a_document_that_is_not_one_line_of_ascii_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "r1")
    with pytest.raises(UnicodeEncodeError):
        journal.append("é")
    with pytest.raises(ValueError, match="one line"):
        journal.append("{\n}")
    journal.close()
    assert read_journal(journal.path) == ((), 0)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_the_journal_is_the_users_alone_and_out_of_git(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs", "r1")
    journal.close()
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(journal.path.parent.stat().st_mode) == 0o700
    assert (tmp_path / "runs" / ".gitignore").read_text() == "*\n"


def test_a_disk_that_is_full_is_an_error_not_a_silence(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    (tmp_path / "r1").mkdir()
    (tmp_path / "r1" / "journal.jsonl").symlink_to(full)
    journal = Journal(tmp_path, "r1")
    with pytest.raises(OSError, match="space"):
        journal.append("{}")
    journal.close()


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(OSError, match="runs"):
        Journal(tmp_path / "runs", "r1")


def test_pruning_keeps_the_newest_runs_and_what_is_not_a_run(tmp_path: Path) -> None:
    for name in ("20260103", "20260101", "20260102"):
        Journal(tmp_path, name).close()
    (tmp_path / "notes").mkdir()
    prune_runs(tmp_path, keep=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "20260102",
        "20260103",
        "notes",
    ]
