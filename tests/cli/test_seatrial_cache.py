"""`seatrial cache` from end to end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from seatrial.models.answer_cache import AnswerCache, key_of

Cache: TypeAlias = "Callable[..., subprocess.CompletedProcess[str]]"
YEAR_S = 365 * 86_400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def cache(folder: Path) -> Cache:
    """Runs `seatrial cache` with the given words."""

    def _run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "seatrial", "cache", *words],
            env={**os.environ, "SEATRIAL_CACHE_DIR": str(folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return _run


def keep(folder: Path, *, answers: int, unused_s: float = 0.0) -> None:
    kept = AnswerCache(folder)
    for number in range(answers):
        key = key_of({"number": number, "unused_s": unused_s})
        assert kept.put(key, {"text": "x" * 300_000})
        path = kept.folder / key[:2] / f"{key}.json"
        used_at = path.stat().st_mtime - unused_s
        os.utime(path, (used_at, used_at))


def test_an_empty_cache_is_shown_with_its_folder(cache: Cache, folder: Path) -> None:
    ended = cache("show")
    assert ended.returncode == 0
    assert ended.stdout == f"folder: {folder / 'answers'}\n0 answers, 0.0 MB\n"
    assert ended.stderr == ""
    assert not folder.exists()


def test_show_counts_what_is_kept(cache: Cache, folder: Path) -> None:
    keep(folder, answers=2, unused_s=10 * 86_400)
    ended = cache("show")
    assert ended.stdout.endswith("least recently used: 10.0 days ago\n2 answers, 0.6 MB\n")
    document = json.loads(cache("show", "--json").stdout)
    assert (document["schema_version"], document["command"]) == ("seatrial.cli.v1", "cache show")
    assert document["ok"] is True
    assert document["data"]["entries"] == 2
    assert document["data"]["usable"] is True
    assert document["data"]["size_bytes"] > 600_000


def test_prune_removes_what_was_not_used_for_thirty_days(cache: Cache, folder: Path) -> None:
    keep(folder, answers=1)
    keep(folder, answers=2, unused_s=31 * 86_400)
    ended = cache("prune")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "removed 2 answers, 0.6 MB; kept 1 answer, 0.3 MB\n"


def test_prune_keeps_within_the_limits_that_are_given(cache: Cache, folder: Path) -> None:
    keep(folder, answers=5, unused_s=YEAR_S)
    data = json.loads(cache("prune", "--unused-days", "400", "--most-mb", "1", "--json").stdout)[
        "data"
    ]
    assert (data["removed"], data["kept"], data["failed"]) == (2, 3, 0)
    assert data["kept_bytes"] <= 1_000_000


@pytest.mark.parametrize("words", [("--most-mb", "-1"), ("--unused-days", "nan")])
def test_a_limit_that_is_none_is_a_usage_error(cache: Cache, words: tuple[str, str]) -> None:
    ended = cache("prune", *words)
    assert ended.returncode == 2
    assert f"Invalid value for '{words[0]}'" in ended.stderr


def test_clear_removes_all_and_says_so(cache: Cache, folder: Path) -> None:
    keep(folder, answers=3)
    ended = cache("clear")
    assert ended.returncode == 0
    assert ended.stdout == "removed 3 answers, 0.9 MB; kept 0 answers, 0.0 MB\n"
    assert AnswerCache(folder).contents().entries == 0


@pytest.mark.skipif(sys.platform == "win32", reason="folders there have no mode")
def test_a_folder_that_others_can_write_to_is_a_warning(cache: Cache, folder: Path) -> None:
    keep(folder, answers=1)
    (folder / "answers").chmod(0o777)
    ended = cache("show")
    assert ended.returncode == 0
    assert "warning: no answer is kept or found: " in ended.stderr
    assert json.loads(cache("show", "--json").stdout)["data"]["usable"] is False


def test_what_cannot_be_removed_fails_the_command(cache: Cache, folder: Path) -> None:
    key = key_of({})
    (folder / "answers" / key[:2] / f"{key}.json").mkdir(parents=True)
    ended = cache("clear")
    assert ended.returncode == 1
    assert "that cannot be removed: 1\n" in ended.stderr


def test_the_group_is_listed_with_its_commands(cache: Cache) -> None:
    ended = cache("--help")
    assert ended.returncode == 0
    for name in ("show", "prune", "clear"):
        assert f"\n  {name} " in ended.stdout
