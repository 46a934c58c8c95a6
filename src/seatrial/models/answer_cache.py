"""Answers of models, kept for the next one who asks the same.

Each answer is a file of its own, in one of 256 folders: a line with a checksum, then JSON. Readers
and writers need no lock, since files are replaced whole; what does not fit its checksum, or is not
ours, counts as absent. The files are private to the user, like what they hold.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from seatrial.files import is_private_folder, make_private_folder, write_atomic
from seatrial.snapshot import JsonObject, strict_json

__all__ = ["LARGEST_ENTRY_BYTES", "AnswerCache", "Contents", "Pruned", "default_folder", "key_of"]

LARGEST_ENTRY_BYTES = 1_000_000
"""An answer that needs more is not kept."""

_FORMAT = "seatrial-answer-1"
_KEY = re.compile(r"[0-9a-f]{64}")
_ENTRY = re.compile(r"([0-9a-f]{64})\.json")
_UNFINISHED = re.compile(r"\.[0-9a-f]{64}\.json\..+")  # left by a writer that was killed
_UNFINISHED_S = 3600.0


def default_folder() -> Path:
    """`SEATRIAL_CACHE_DIR`, or `seatrial` in the folder where the platform keeps caches."""
    chosen = os.environ.get("SEATRIAL_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
    return _user_cache_folder() / "seatrial"


def _user_cache_folder() -> Path:
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    chosen = Path(os.environ.get(variable, ""))
    if chosen.is_absolute():  # the XDG specification has relative ones ignored
        return chosen
    try:
        home = Path.home()
    except RuntimeError:  # a container's user that is nobody
        return Path(tempfile.gettempdir())
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def key_of(document: JsonObject) -> str:
    """The key of an answer: a hash of all that decides it, whatever the order of its names.

    Raises:
        NotJsonError: If a part of the document is not JSON.
    """
    return hashlib.sha256(_json(document, "what decides an answer").encode()).hexdigest()


def _json(document: JsonObject, what: str, *, in_order: bool = True) -> str:
    return json.dumps(strict_json(document, what=what), separators=(",", ":"), sort_keys=in_order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a cache holds.

    Attributes:
        entries: Answers.
        size_bytes: Length of their files together.
        oldest_s: Seconds since the answer was used that was used least recently; None without
            answers.
    """

    entries: int
    size_bytes: int
    oldest_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What a pruning did.

    Attributes:
        removed: Answers that are gone.
        freed_bytes: Length of their files, and of those that killed writers left.
        kept: Answers that are still there.
        kept_bytes: Length of their files.
        failed: Files that were to go and could not be removed; part of what is kept.
    """

    removed: int
    freed_bytes: int
    kept: int
    kept_bytes: int
    failed: int


@dataclass(frozen=True, slots=True)
class _Entry:
    path: Path
    used_at: float
    size_bytes: int


class AnswerCache:
    """The answers in `folder`, in a subfolder of their own; other files there are left alone.

    Any number of processes may use one folder. A folder that is missing, not writable, or open to
    other users is a cache that holds nothing and keeps nothing: `problem` says why.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "answers"

    def problem(self) -> str | None:
        """Why nothing can be kept here; None if it can, or if the folder does not exist yet."""
        try:
            is_private = is_private_folder(self.folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"{self.folder} cannot be read: {error.strerror}"
        if not is_private:
            return f"{self.folder} must be a folder that only this user can write to"
        if not os.access(self.folder, os.R_OK | os.W_OK | os.X_OK):
            return f"{self.folder} is not writable"
        return None

    def get(self, key: str) -> JsonObject | None:
        """The answer under `key`, or None. One that is damaged or foreign is removed.

        Raises:
            ValueError: If the key is none of `key_of`.
        """
        path = self._path(key)
        try:
            if not is_private_folder(self.folder):
                return None
            content = _read(path)
        except OSError:
            return None
        document = None if content is None else _parse(key, content)
        with suppress(OSError):  # a cache that is only readable serves all the same
            if document is None:
                path.unlink()
            else:
                os.utime(path)  # so that pruning knows what is used
        return document

    def put(self, key: str, document: JsonObject) -> bool:
        """Keep an answer; whether it is kept now. Not if it is too large or the folder unusable.

        Raises:
            ValueError: If the key is none of `key_of`.
            NotJsonError: If a part of the document is not JSON.
        """
        path = self._path(key)
        body = _json(document, "an answer to keep", in_order=False)
        content = f"{_head(key, body)}\n{body}"
        if len(content) > LARGEST_ENTRY_BYTES:
            return False
        try:
            make_private_folder(self.folder.parent)
            self.folder.mkdir(mode=0o700, exist_ok=True)
            if not is_private_folder(self.folder):
                return False
            path.parent.mkdir(mode=0o700, exist_ok=True)
            write_atomic(path, content)
        except OSError:
            return False
        return True

    def contents(self) -> Contents:
        """What is there now."""
        entries = list(self._entries())
        oldest = min((entry.used_at for entry in entries), default=None)
        return Contents(
            entries=len(entries),
            size_bytes=sum(entry.size_bytes for entry in entries),
            oldest_s=None if oldest is None else max(0.0, time.time() - oldest),
        )

    def prune(self, *, older_than_s: float | None, largest_bytes: int | None) -> Pruned:
        """Remove answers, those first that were used least recently.

        Args:
            older_than_s: All that were not used for so long go; None for none.
            largest_bytes: So many go that the rest needs at most this; None for no limit.

        Raises:
            ValueError: If a limit is negative, or no number.
        """
        for name, limit in (("older_than_s", older_than_s), ("largest_bytes", largest_bytes)):
            if limit is not None and not (limit >= 0 and math.isfinite(limit)):
                raise ValueError(f"{name}={limit!r}: expected a number from 0")
        now = time.time()
        removed = freed = failed = 0
        entries = sorted(self._entries(), key=lambda entry: entry.used_at)
        left = sum(entry.size_bytes for entry in entries)
        for entry in entries:
            is_old = older_than_s is not None and now - entry.used_at > older_than_s
            if not is_old and (largest_bytes is None or left <= largest_bytes):
                continue
            if _remove(entry.path):
                removed += 1
                freed += entry.size_bytes
                left -= entry.size_bytes
            else:
                failed += 1
        return Pruned(
            removed=removed,
            freed_bytes=freed + self._sweep(now),
            kept=len(entries) - removed,
            kept_bytes=left,
            failed=failed,
        )

    def clear(self) -> Pruned:
        """Remove all answers."""
        return self.prune(older_than_s=0, largest_bytes=0)

    def _sweep(self, now: float) -> int:
        """Remove what writers that were killed left; the bytes that it freed."""
        left = (file for file in self._files(_UNFINISHED) if now - file.used_at > _UNFINISHED_S)
        return sum(file.size_bytes for file in left if _remove(file.path))

    def _entries(self) -> Iterator[_Entry]:
        return self._files(_ENTRY)

    def _files(self, name: re.Pattern[str]) -> Iterator[_Entry]:
        for number in range(256):
            shard = self.folder / f"{number:02x}"
            with suppress(OSError), os.scandir(shard) as files:
                for file in files:
                    if name.fullmatch(file.name) is None:
                        continue
                    with suppress(OSError):  # removed by another process meanwhile
                        found = file.stat(follow_symlinks=False)
                        yield _Entry(shard / file.name, found.st_mtime, found.st_size)

    def _path(self, key: str) -> Path:
        if _KEY.fullmatch(key) is None:
            raise ValueError(f"the key {key[:80]!r}: expected 64 hexadecimal digits from key_of")
        return self.folder / key[:2] / f"{key}.json"


def _head(key: str, body: str) -> str:
    # With the key in it, a file that was moved to another key's place fits no more.
    return f"{_FORMAT} {hashlib.sha256(f'{key} {body}'.encode()).hexdigest()}"


def _read(path: Path) -> bytes | None:
    """The file; None if it is none of ours. Links are not followed, and nothing blocks."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except OSError:
        if path.is_symlink():
            return None
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(LARGEST_ENTRY_BYTES + 1)
    finally:
        os.close(descriptor)
    return content if len(content) <= LARGEST_ENTRY_BYTES else None


def _parse(key: str, content: bytes) -> JsonObject | None:
    try:
        head, _, body = content.decode("ascii").partition("\n")
    except UnicodeDecodeError:
        return None
    if head != _head(key, body):
        return None
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _remove(path: Path) -> bool:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True
