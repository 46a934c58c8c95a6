"""Private files, written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from seatrial.files import is_private_folder, make_private_folder, write_atomic, write_json

needs_modes = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")


@needs_modes
def test_a_new_folder_is_the_users_alone_and_out_of_git(tmp_path: Path) -> None:
    folder = make_private_folder(tmp_path / "a" / "b")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / ".gitignore").read_text() == "*\n"


def test_a_folder_that_exists_is_left_as_it_is(tmp_path: Path) -> None:
    make_private_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


@needs_modes
def test_a_folder_is_private_while_nobody_else_can_put_anything_into_it(tmp_path: Path) -> None:
    folder = make_private_folder(tmp_path / "a")
    assert is_private_folder(folder)
    folder.chmod(0o755)
    assert is_private_folder(folder)
    for mode in (0o775, 0o757):
        folder.chmod(mode)
        assert not is_private_folder(folder)


def test_neither_a_link_nor_a_file_is_a_private_folder(tmp_path: Path) -> None:
    folder = make_private_folder(tmp_path / "a")
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "file").write_text("")
    assert not is_private_folder(tmp_path / "link")
    assert not is_private_folder(tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        is_private_folder(tmp_path / "missing")


@needs_modes
def test_a_written_file_is_whole_private_and_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    write_atomic(path, "new é\n")
    assert path.read_bytes() == "new é\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_text_that_cannot_be_encoded_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomic(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomic(tmp_path / "missing" / "out.json", "")


@pytest.mark.parametrize(
    "document", [{}, [], {"a": []}, {"a": {"b": [1, "é", None]}}, [[["x"]], {"y": {}}], "text", 1.5]
)
@pytest.mark.parametrize("levels", [0, 1, 2, 9])
def test_a_json_document_is_written_as_it_is(tmp_path: Path, document: object, levels: int) -> None:
    write_json(tmp_path / "out.json", document, levels=levels)
    assert json.loads((tmp_path / "out.json").read_text()) == document


def test_items_below_the_levels_laid_out_have_a_line_each(tmp_path: Path) -> None:
    document = {"trials": ({"n": n, "of": [2]} for n in (1, 2)), "done": True}
    write_json(tmp_path / "out.json", document, levels=2)
    assert (tmp_path / "out.json").read_text().splitlines() == [
        "{",
        '  "trials": [',
        '    {"n": 1, "of": [2]},',
        '    {"n": 2, "of": [2]}',
        "  ],",
        '  "done": true',
        "}",
    ]


@pytest.mark.parametrize("value", [float("nan"), object()])
def test_what_is_not_json_leaves_no_file(tmp_path: Path, value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        write_json(tmp_path / "out.json", {"a": [value]}, levels=2)
    assert list(tmp_path.iterdir()) == []
