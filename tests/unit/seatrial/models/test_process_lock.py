from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from seatrial.models.process_lock import process_lock

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
