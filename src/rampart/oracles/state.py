"""Files and databases compared before and after."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias, get_args

from rampart.core.evaluator import BaseEvaluator
from rampart.core.types import EvalContext, EvalOutcome, EvalResult
from seatrial.text import one_line

__all__ = ["Change", "DatabaseState", "FileState"]

Change: TypeAlias = Literal["created", "changed", "deleted"]

_SHOWN = 5
_CHUNK = 1 << 20


class _State(ABC):
    """Something whose state is remembered when `async with` begins."""

    _before: Mapping[str, Any] | None = None

    async def __aenter__(self) -> Self:
        self._before = await asyncio.to_thread(self._read)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None

    @abstractmethod
    def _read(self) -> Mapping[str, Any]:
        """The state now, by name."""

    @abstractmethod
    def _compared(
        self, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> list[tuple[Change, str]]:
        """What differs, and how."""

    def changed(
        self, name: str = "*", /, *, kinds: Collection[Change] = get_args(Change)
    ) -> BaseEvaluator:
        """Detects that something is not as it was, whatever the adapter can see.

        Args:
            name: What, as a pattern with `*` and `?`.
            kinds: Which changes count.

        Raises:
            ValueError: If a kind is none.
        """
        for kind in kinds:
            if kind not in get_args(Change):
                raise ValueError(f"kind {kind!r} is none of {', '.join(get_args(Change))}")
        return _Changed(self, name, frozenset(kinds))

    async def _changes(self) -> list[tuple[Change, str]]:
        if self._before is None:
            raise RuntimeError(
                f"{type(self).__name__} knows no earlier state: use `async with` first"
            )
        return self._compared(self._before, await asyncio.to_thread(self._read))


class _Changed(BaseEvaluator):
    requires = frozenset()
    detection_is_final = False  # what was written can be put back

    def __init__(self, state: _State, pattern: str, kinds: frozenset[str]) -> None:
        self._state = state
        self._pattern = pattern
        self._kinds = kinds

    def __repr__(self) -> str:
        return f"{type(self._state).__name__}.changed({self._pattern!r})"

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        del context
        found = [
            f"{kind}: {one_line(name, limit=200)}"
            for kind, name in await self._state._changes()  # noqa: SLF001 - one class in two parts
            if kind in self._kinds and fnmatch(name.partition(" ")[0], self._pattern)
        ]
        if not found:
            return EvalResult(outcome=EvalOutcome.NOT_DETECTED, rationale="all is as it was")
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        return EvalResult(
            outcome=EvalOutcome.DETECTED,
            evidence=found[:_SHOWN],
            rationale=f"{'; '.join(found[:_SHOWN])}{more}",
        )


class FileState(_State):
    """The files below a folder, by their paths relative to it, and their contents.

    Links are not followed: a link is what it points to.
    """

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder)

    def _read(self) -> Mapping[str, Any]:
        return {
            path.relative_to(self._folder).as_posix(): _content(path)
            for path in sorted(self._folder.rglob("*"))
            if path.is_symlink() or path.is_file()
        }

    def _compared(
        self, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> list[tuple[Change, str]]:
        changes: list[tuple[Change, str]] = []
        for name in sorted({*before, *after}):
            if name not in before:
                changes.append(("created", name))
            elif name not in after:
                changes.append(("deleted", name))
            elif before[name] != after[name]:
                changes.append(("changed", name))
        return changes


def _content(path: Path) -> str:
    if path.is_symlink():
        return f"link to {path.readlink()}"
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while part := file.read(_CHUNK):
                digest.update(part)
    except FileNotFoundError:  # gone since it was listed
        return "gone"
    return digest.hexdigest()


class DatabaseState(_State):
    """The rows of a SQLite database's tables, each row as a whole.

    A row that was changed shows as one deleted and one created: rows have no names.
    """

    def __init__(self, path: Path | str, *, tables: Collection[str] | None = None) -> None:
        self._path = Path(path)
        self._tables = None if tables is None else frozenset(tables)

    def _read(self) -> Mapping[str, Any]:
        if not self._path.exists():
            return {}
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as database:
            names = [
                name
                for (name,) in database.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                )
                if self._tables is None or name in self._tables
            ]
            return {name: Counter(map(repr, database.execute(_all_of(name)))) for name in names}

    def _compared(
        self, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> list[tuple[Change, str]]:
        changes: list[tuple[Change, str]] = []
        for name in sorted({*before, *after}):
            old, new = before.get(name, Counter()), after.get(name, Counter())
            changes += [("deleted", f"{name} {row}") for row in (old - new).elements()]
            changes += [("created", f"{name} {row}") for row in (new - old).elements()]
        return changes


def _all_of(table: str) -> str:
    quoted = table.replace('"', '""')
    return f'SELECT * FROM "{quoted}"'
