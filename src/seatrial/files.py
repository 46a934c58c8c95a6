"""Files that only the user may read, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["make_private_folder", "write_atomic"]


def make_private_folder(folder: Path) -> Path:
    """Create `folder` for this user only, with a `.gitignore` that keeps all of it out of git.

    A folder that exists already is left as it is: it may be somebody's project.
    """
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    return folder


def write_atomic(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to `path`, mode 0600; a reader sees the old file or the new one.

    Raises:
        OSError: If the folder is missing or not writable; nothing is left behind.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
