"""A journal that was cut anywhere gives back every whole line and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.journal import Journal, read_journal

documents = st.lists(
    st.text(st.characters(exclude_categories=()), max_size=8).map(
        lambda text: json.dumps({"kind": "trial", "text": text})
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("journal") / "journal.jsonl"


def written(stored: list[str]) -> bytes:
    with TemporaryDirectory() as folder:
        journal = Journal(Path(folder), "r")
        for document in stored:
            journal.append(document)
        journal.close()
        return journal.path.read_bytes()


@given(stored=documents)
def test_a_journal_cut_at_any_byte_gives_all_whole_lines(path: Path, stored: list[str]) -> None:
    content = written(stored)
    path.write_bytes(content)
    for length in range(len(content), -1, -1):
        os.truncate(path, length)
        whole = content[:length].count(b"\n")
        torn = length > 0 and content[length - 1 : length] != b"\n"
        assert read_journal(path) == (tuple(stored[:whole]), int(torn))


@given(stored=documents, data=st.data())
def test_one_changed_byte_costs_at_most_the_lines_that_it_touches(
    path: Path, stored: list[str], data: st.DataObject
) -> None:
    content = bytearray(written(stored))
    place = data.draw(st.integers(0, len(content) - 1))
    flip = data.draw(st.integers(1, 255))
    touched = bytes(content[:place]).count(b"\n")
    ends_line = content[place] == 0x0A
    content[place] ^= flip
    path.write_bytes(content)
    kept = stored[:touched] + stored[touched + (2 if ends_line else 1) :]
    assert list(read_journal(path).documents) == kept


@given(content=st.binary(max_size=80))
def test_a_file_of_anything_is_read_without_error_and_every_line_accounted_for(
    path: Path, content: bytes
) -> None:
    path.write_bytes(content)
    lines = read_journal(path)
    expected = content.count(b"\n") + bool(content and not content.endswith(b"\n"))
    assert len(lines.documents) + lines.dropped == expected
