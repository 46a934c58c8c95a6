"""The embedded model, `local`: one server on loopback, shared by all processes of a run."""

from __future__ import annotations

import atexit
import getpass
import hashlib
import importlib.util
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from seatrial.errors import MissingExtraError, ModelProviderError
from seatrial.files import is_private_folder, make_private_folder
from seatrial.models import local_server
from seatrial.models.process_lock import process_lock

__all__ = ["LocalModel", "local_model", "release_local_model"]

_START_S = 60.0
_GREETING_S = 10.0
_LOG_TAIL = 500


@dataclass(frozen=True, slots=True)
class LocalModel:
    """Where the embedded model answers.

    Attributes:
        base_url: Of an OpenAI-style interface on loopback, "/v1" included; it wants no key.
        model: The model's name there.
    """

    base_url: str
    model: str = "local"


@dataclass(slots=True)
class _Use:
    """A stake in the server, which stays while the connection is open."""

    connection: socket.socket
    model: LocalModel

    def is_alive(self) -> bool:
        try:
            return self.connection.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False


_guard = threading.Lock()
_use: _Use | None = None


def local_model() -> LocalModel:
    """The embedded model, ready to answer; started if no process of this user has it running.

    The server stays until this process ends or calls `release_local_model`, and every other
    process that asked for it too; then it goes by itself within seconds.

    Raises:
        MissingExtraError: If the packages of the extra `local` are not installed.
        ModelProviderError: If the server does not start; the message holds what it last said.
    """
    global _use  # noqa: PLW0603 - one per process, as the server is one per machine
    with _guard:
        if _use is not None and not _use.is_alive():
            _use.connection.close()
            _use = None
        if _use is None:
            _use = _join_or_start()
        return _use.model


def release_local_model() -> None:
    """End this process's use of the embedded model; without a use, nothing happens."""
    global _use  # noqa: PLW0603
    with _guard:
        if _use is not None:
            _use.connection.close()
            _use = None


atexit.register(release_local_model)


def _join_or_start() -> _Use:
    if importlib.util.find_spec("xllamacpp") is None or local_server.find_weights() is None:
        raise MissingExtraError("local", "the model `local`")
    # Environments may hold different engines, so each has its own server.
    environment = hashlib.sha256(sys.prefix.encode()).hexdigest()[:12]
    address_file = _private_folder() / f"local-model-{environment}.json"
    try:
        with process_lock(address_file.with_suffix(".lock"), timeout_s=_START_S):
            use = _join(address_file)
            if use is None:
                _start(address_file)
                use = _join(address_file)
    except TimeoutError as error:
        raise ModelProviderError(f"the local model did not start: {error}") from error
    if use is None:
        raise ModelProviderError(
            f"the local model started and went away at once{_said(address_file)}"
        )
    return use


def _private_folder() -> Path:
    folder = make_private_folder(Path(tempfile.gettempdir()) / f"seatrial-{getpass.getuser()}")
    if not is_private_folder(folder):
        raise ModelProviderError(
            f"{folder} must be a folder that only this user can write to; remove it"
        )
    return folder


def _join(address_file: Path) -> _Use | None:
    address = local_server.read_address(address_file)
    if address is None:
        return None
    try:
        connection = socket.create_connection(("127.0.0.1", address.users_port), _GREETING_S)
    except OSError:
        return None
    try:
        connection.sendall(address.token.encode())
        answer = connection.recv(len(local_server.READY), socket.MSG_WAITALL)
    except OSError:
        answer = b""
    if answer != local_server.READY:
        connection.close()
        return None
    connection.setblocking(False)
    return _Use(connection, LocalModel(address.base_url))


def _start(address_file: Path) -> None:
    launcher = [sys.executable, "-P", "-m", local_server.__name__, str(address_file)]
    try:
        done = subprocess.run(
            launcher,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,  # Ctrl-C is for the caller; the server leaves when users do
            timeout=_START_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelProviderError(
            f"the local model did not start within {_START_S:g} s{_said(address_file)}"
        ) from error
    if done.returncode != 0:
        raise ModelProviderError(f"the local model did not start{_said(address_file)}")


def _said(address_file: Path) -> str:
    log = address_file.with_suffix(".log")
    try:
        text = log.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
    return f"; {log} ends with: {text[-_LOG_TAIL:]}" if text else f"; {log} is empty"
