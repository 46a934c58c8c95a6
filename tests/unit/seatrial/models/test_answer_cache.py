"""Answers that are kept: found again whole, by their user alone, or not at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from seatrial.errors import NotJsonError
from seatrial.models.answer_cache import (
    LARGEST_ENTRY_BYTES,
    AnswerCache,
    Contents,
    Pruned,
    default_folder,
    key_of,
)
from seatrial.snapshot import JsonObject

needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="files there have no mode")
needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links there need a privilege")

KEY = key_of({"model": "a", "user": "Is it blue?"})
ANSWER: JsonObject = {"passed": True, "reasoning": "because \ud800 \x1b[31m", "score": [1, 0.5]}
_WRITES = """
import pathlib, sys
from seatrial.models.answer_cache import AnswerCache, key_of
cache = AnswerCache(pathlib.Path(sys.argv[1]))
for number in range(200):
    key = key_of({"number": number % 5})
    assert cache.put(key, {"number": number % 5, "padding": "x" * 5000})
    found = cache.get(key)
    assert found is not None and found["number"] == number % 5, found
"""


@pytest.fixture
def cache(tmp_path: Path) -> AnswerCache:
    return AnswerCache(tmp_path / "cache")


def entry(cache: AnswerCache, key: str = KEY) -> Path:
    return cache.folder / key[:2] / f"{key}.json"


def use_at(cache: AnswerCache, key: str, seconds: float) -> None:
    os.utime(entry(cache, key), (seconds, seconds))


def filled(cache: AnswerCache, numbers: range) -> list[str]:
    """Keys of answers of one size, the first of which was used least recently, long ago."""
    keys = [key_of({"number": number}) for number in numbers]
    for age, key in enumerate(keys):
        assert cache.put(key, {"padding": "x" * 1000})
        use_at(cache, key, 1_000_000_000 + age)
    return keys


def test_an_answer_is_found_under_its_key_and_no_other(cache: AnswerCache) -> None:
    assert cache.get(KEY) is None
    assert cache.put(KEY, ANSWER)
    assert cache.get(KEY) == ANSWER
    assert cache.get(key_of({"model": "b", "user": "Is it blue?"})) is None


def test_a_key_does_not_depend_on_the_order_of_names_but_on_all_else() -> None:
    assert key_of({"a": 1, "b": [2, 3]}) == key_of({"b": [2, 3], "a": 1})
    documents: list[JsonObject] = [{"a": 1}, {"a": 1.0}, {"a": True}, {"a": "1"}, {"a": [1]}, {}]
    assert len({key_of(document) for document in documents}) == len(documents)


@pytest.mark.parametrize("value", [float("nan"), b"bytes", {1: 2}])
def test_what_is_not_json_has_no_key_and_is_no_answer(cache: AnswerCache, value: object) -> None:
    document: JsonObject = {"value": value}  # type: ignore[dict-item]
    with pytest.raises(NotJsonError, match="what decides an answer must be JSON"):
        key_of(document)
    with pytest.raises(NotJsonError, match="an answer to keep must be JSON"):
        cache.put(KEY, document)


@pytest.mark.parametrize(
    "key", ["", "../../etc/passwd", KEY[:-1], KEY.upper(), f"{KEY}\n", f"{KEY}/..", "\0" * 64]
)
def test_a_key_that_is_none_of_ours_reaches_no_file(cache: AnswerCache, key: str) -> None:
    with pytest.raises(ValueError, match="expected 64 hexadecimal digits"):
        cache.get(key)
    with pytest.raises(ValueError, match="expected 64 hexadecimal digits"):
        cache.put(key, ANSWER)
    assert not cache.folder.exists()


@needs_modes
def test_all_that_is_kept_is_the_users_alone(cache: AnswerCache) -> None:
    cache.put(KEY, ANSWER)
    root = cache.folder.parent
    assert (root / ".gitignore").read_text(encoding="utf-8") == "*\n"
    private = [root, cache.folder, *cache.folder.rglob("*")]
    assert len(private) == 4
    for path in private:
        assert path.stat().st_mode & 0o077 == 0


def test_a_later_answer_replaces_the_earlier_and_leaves_one_file(cache: AnswerCache) -> None:
    cache.put(KEY, ANSWER)
    cache.put(KEY, {"passed": False})
    assert cache.get(KEY) == {"passed": False}
    assert list(entry(cache).parent.iterdir()) == [entry(cache)]


def test_an_answer_that_is_too_large_is_not_kept(cache: AnswerCache) -> None:
    assert cache.put(KEY, {"text": "x" * (LARGEST_ENTRY_BYTES - 200)})
    other = key_of({})
    assert not cache.put(other, {"text": "x" * LARGEST_ENTRY_BYTES})
    assert cache.get(other) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content + b" ",
        lambda content: content.replace(b"true", b"null"),
        lambda content: content.partition(b"\n")[2],
        lambda content: b"\xff" + content,
        lambda content: b"x" * (LARGEST_ENTRY_BYTES + 1),
    ],
)
def test_a_damaged_answer_is_a_miss_and_goes(
    cache: AnswerCache, damage: Callable[[bytes], bytes]
) -> None:
    cache.put(KEY, ANSWER)
    entry(cache).write_bytes(damage(entry(cache).read_bytes()))
    assert cache.get(KEY) is None
    assert not entry(cache).exists()
    assert cache.put(KEY, ANSWER)
    assert cache.get(KEY) == ANSWER


def test_an_answer_that_was_moved_to_another_key_is_a_miss(cache: AnswerCache) -> None:
    other = key_of({"model": "b"})
    cache.put(KEY, ANSWER)
    entry(cache, other).parent.mkdir(exist_ok=True)
    shutil.copy(entry(cache), entry(cache, other))
    assert cache.get(other) is None
    assert cache.get(KEY) == ANSWER


@needs_links
def test_a_link_in_the_place_of_an_answer_is_not_followed(
    cache: AnswerCache, tmp_path: Path
) -> None:
    cache.put(KEY, ANSWER)
    target = entry(cache).rename(tmp_path / "elsewhere")
    entry(cache).symlink_to(target)
    assert cache.get(KEY) is None
    assert not entry(cache).is_symlink()
    assert target.exists()


@needs_links
def test_neither_a_pipe_nor_a_folder_in_the_place_of_an_answer_stops_anyone(
    cache: AnswerCache,
) -> None:
    entry(cache).parent.mkdir(parents=True)
    cache.folder.chmod(0o700)
    os.mkfifo(entry(cache))
    assert cache.get(KEY) is None
    entry(cache).mkdir()
    assert cache.get(KEY) is None
    assert not cache.put(KEY, ANSWER)
    assert list(entry(cache).parent.iterdir()) == [entry(cache)]


@needs_modes
def test_a_folder_that_others_can_write_to_gives_and_takes_nothing(cache: AnswerCache) -> None:
    cache.put(KEY, ANSWER)
    assert cache.problem() is None
    cache.folder.chmod(0o777)
    assert cache.get(KEY) is None
    assert not cache.put(KEY, ANSWER)
    assert "must be a folder that only this user can write to" in str(cache.problem())


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    cache = AnswerCache(tmp_path / "file" / "cache")
    assert cache.get(KEY) is None
    assert not cache.put(KEY, ANSWER)
    assert "cannot be read" in str(cache.problem())
    assert cache.contents() == Contents(entries=0, size_bytes=0, oldest_s=None)


def test_a_cache_that_does_not_exist_is_empty_and_no_problem(cache: AnswerCache) -> None:
    assert cache.problem() is None
    assert cache.contents().entries == 0
    nothing = Pruned(removed=0, freed_bytes=0, kept=0, kept_bytes=0, failed=0)
    assert cache.clear() == nothing
    assert not cache.folder.exists()


def test_the_contents_are_counted(cache: AnswerCache) -> None:
    filled(cache, range(5))
    contents = cache.contents()
    assert contents.entries == 5
    assert contents.size_bytes == sum(path.stat().st_size for path in cache.folder.rglob("*.json"))
    assert contents.oldest_s is not None
    assert contents.oldest_s > 365 * 86_400


def test_pruning_by_age_keeps_what_was_used_lately(cache: AnswerCache) -> None:
    first, second, third = filled(cache, range(3))
    assert cache.get(second) is not None
    pruned = cache.prune(older_than_s=86_400, largest_bytes=None)
    assert (pruned.removed, pruned.kept, pruned.failed) == (2, 1, 0)
    assert pruned.freed_bytes == 2 * pruned.kept_bytes
    assert [cache.get(key) is None for key in (first, second, third)] == [True, False, True]


def test_pruning_by_size_removes_what_was_used_least_recently(cache: AnswerCache) -> None:
    keys = filled(cache, range(6))
    size = entry(cache, keys[0]).stat().st_size
    pruned = cache.prune(older_than_s=None, largest_bytes=2 * size + 1)
    assert (pruned.removed, pruned.kept, pruned.kept_bytes) == (4, 2, 2 * size)
    assert [cache.get(key) is not None for key in keys] == [False] * 4 + [True] * 2


def test_without_a_limit_pruning_removes_nothing(cache: AnswerCache) -> None:
    filled(cache, range(2))
    assert cache.prune(older_than_s=None, largest_bytes=None).kept == 2


@pytest.mark.parametrize(("age_s", "size"), [(-1.0, None), (float("nan"), None), (None, -1)])
def test_a_limit_that_is_none_is_an_error(
    cache: AnswerCache, age_s: float | None, size: int | None
) -> None:
    with pytest.raises(ValueError, match="expected a number from 0"):
        cache.prune(older_than_s=age_s, largest_bytes=size)


def test_clearing_leaves_the_files_of_others_alone(cache: AnswerCache) -> None:
    filled(cache, range(4))
    foreign = [
        cache.folder.parent / "notes.json",
        cache.folder / "notes.json",
        entry(cache).with_name("notes.json"),
        entry(cache, key_of({"number": 0})).with_suffix(".txt"),
    ]
    for path in foreign:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine", encoding="utf-8")
    pruned = cache.clear()
    assert (pruned.removed, pruned.kept) == (4, 0)
    assert all(path.read_text(encoding="utf-8") == "mine" for path in foreign)


def test_pruning_removes_what_a_killed_writer_left_but_not_what_one_is_writing(
    cache: AnswerCache,
) -> None:
    cache.put(KEY, ANSWER)
    left, current = (entry(cache).with_name(f".{KEY}.json.{end}") for end in ("old", "new"))
    for path in (left, current):
        path.write_text("half", encoding="utf-8")
    os.utime(left, (1_000_000_000, 1_000_000_000))
    pruned = cache.prune(older_than_s=None, largest_bytes=None)
    assert (pruned.removed, pruned.freed_bytes, pruned.kept) == (0, 4, 1)
    assert not left.exists()
    assert current.exists()


def test_processes_that_write_the_same_keys_always_read_whole_answers(
    cache: AnswerCache,
) -> None:
    program = [sys.executable, "-c", _WRITES, str(cache.folder.parent)]
    writers = [subprocess.Popen(program) for _ in range(3)]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    assert cache.contents().entries == 5


def test_the_variable_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEATRIAL_CACHE_DIR", "here")
    assert default_folder() == tmp_path / "here"


@pytest.mark.skipif(sys.platform != "linux", reason="other platforms keep caches elsewhere")
@pytest.mark.parametrize(
    ("chosen", "expected"),
    [(None, "/home/me/.cache"), ("", "/home/me/.cache"), ("x", "/home/me/.cache"), ("/x", "/x")],
)
def test_the_default_is_the_users_cache_folder(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None, expected: str
) -> None:
    monkeypatch.delenv("SEATRIAL_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    if chosen is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", chosen)
    assert default_folder() == Path(expected) / "seatrial"
