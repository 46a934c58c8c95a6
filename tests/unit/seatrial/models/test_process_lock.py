from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from seatrial.models.process_lock import process_lock, try_lock

_HOLD = """
import sys, pathlib
from seatrial.models.process_lock import process_lock
with process_lock(pathlib.Path(sys.argv[1]), timeout_s=10):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_excludes_other_processes_until_its_holder_dies(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(TimeoutError, match=r"another process held .*lock for 0.1 s"),
            process_lock(path, timeout_s=0.1),
        ):
            pass
        holder.kill()
        holder.wait()
        with process_lock(path, timeout_s=10):
            pass


def test_a_lock_can_be_taken_again_after_an_error_inside(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="inside"), process_lock(tmp_path / "lock", timeout_s=1):
        raise ValueError("inside")
    with process_lock(tmp_path / "lock", timeout_s=1):
        pass


def test_one_who_tries_gets_nothing_while_another_part_of_the_process_has_the_lock(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lock"
    first = try_lock(path)
    assert first is not None
    assert try_lock(path) is None
    first.close()
    with try_lock(path) or pytest.fail("the lock is free"):
        assert try_lock(path) is None


def test_what_is_written_under_a_lock_is_read_under_the_next(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with try_lock(path) or pytest.fail("the lock is free") as file:
        assert file.read(100) == b""
        file.write(b"first")
        file.write(b"again")
    with try_lock(path) or pytest.fail("the lock is free") as file:
        assert file.read(100) == b"again"
        assert file.read(2) == b"ag"


@pytest.mark.skipif(sys.platform == "win32", reason="files there have no mode")
def test_the_file_is_for_its_user_only(tmp_path: Path) -> None:
    with try_lock(tmp_path / "lock") or pytest.fail("the lock is free"):
        assert (tmp_path / "lock").stat().st_mode & 0o077 == 0


def test_a_file_that_cannot_be_opened_is_an_error_and_no_lock(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        try_lock(tmp_path / "missing" / "lock")
