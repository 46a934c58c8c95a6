"""Files that only the user may read, written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

__all__ = ["is_private_folder", "make_private_folder", "write_atomic", "write_json"]

_encode = json.JSONEncoder(allow_nan=False).encode


def make_private_folder(folder: Path) -> Path:
    """Create `folder` for this user only, with a `.gitignore` that keeps all of it out of git.

    A folder that exists already is left as it is: it may be somebody's project.
    """
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    return folder


def is_private_folder(folder: Path) -> bool:
    """Whether `folder` is this user's, is no link, and lets nobody else put anything into it.

    To be asked where another user can have made the folder first: in one for temporary files.
    On Windows, where such folders are each user's own, every folder passes.

    Raises:
        OSError: If there is no such folder, or it cannot be looked at.
    """
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return False
    return not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)


def write_atomic(path: Path, text: str | Iterable[str]) -> None:
    """Write `text` as UTF-8 to `path`, mode 0600; a reader sees the old file or the new one.

    Args:
        path: The file, in a folder that exists.
        text: All of it, or its pieces, of which only one is held at a time.

    Raises:
        OSError: If the folder is missing or not writable; nothing is left behind.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.writelines([text] if isinstance(text, str) else text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_json(path: Path, document: object, *, levels: int) -> None:
    """Write a JSON document like `write_atomic`.

    Args:
        path: As for `write_atomic`.
        document: Any JSON. In its first levels any iterable is a list, and is asked for one item
            at a time, so that a document may be larger than memory.
        levels: How many levels of objects and lists to lay out; each item below is on one line.

    Raises:
        OSError: As for `write_atomic`.
        ValueError: If a number is not finite.
        TypeError: If something is not JSON.
    """
    write_atomic(path, _laid_out(document, levels, "\n"))


def _laid_out(value: object, levels: int, line_end: str) -> Iterator[str]:
    yield from _pieces(value, levels, line_end)
    yield "\n"


def _pieces(value: object, levels: int, line_end: str) -> Iterator[str]:
    if levels == 0 or isinstance(value, str) or not isinstance(value, Iterable):
        yield _encode(value)
        return
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    before = opening
    for label, item in _labelled(value):
        yield f"{before}{line_end}  {label}"
        yield from _pieces(item, levels - 1, f"{line_end}  ")
        before = ","
    yield f"{line_end}{closing}" if before == "," else f"{opening}{closing}"


def _labelled(value: Iterable[object]) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        return ((f"{_encode(name)}: ", item) for name, item in value.items())
    return (("", item) for item in value)
