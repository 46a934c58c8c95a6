"""An agent that is a program."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from rampart.adapters.answers import (
    LARGEST_ANSWER,
    checked_observability,
    prompt_of,
    response_of,
)
from rampart.core.errors import InfrastructureError
from rampart.core.manifest import AppManifest
from rampart.core.types import ObservabilityLevel, Request, Response
from seatrial.text import one_line

__all__ = ["ProcessAdapter"]

_SHOWN = 300
_GRACE_S = 2.0
"""Seconds that a program gets to end by itself once its input is closed."""


class ProcessAdapter:
    """Runs a program, never through a shell, and kills it with its children in the end.

    Args:
        command: The program and its arguments.
        per: "turn": started anew for every prompt, which it reads from its input to the end; all that
            it prints is the answer. "session": started once for each session; it is given one line
            of JSON for each prompt, `{"prompt": ...}`, and answers each with one line.
        answers: "text", or "json" for an object with `text` and, if there are any, `tool_calls` and
            `side_effects`.
        environment: Variables in addition to this process's own.
        folder: Where it runs; without, where this process does.
        observability: What the answers show.
        manifest: What the agent can do.
    """

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        per: Literal["turn", "session"] = "turn",
        answers: Literal["text", "json"] = "text",
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        observability: ObservabilityLevel = ObservabilityLevel.RESPONSE_ONLY,
        manifest: AppManifest | None = None,
    ) -> None:
        if isinstance(command, (str, bytes)) or not command:
            raise TypeError(
                "ProcessAdapter: command must be a list, the program first, such as ['my-agent', '-q']"
            )
        if per not in ("turn", "session"):
            raise ValueError(f"per={per!r}: expected 'turn' or 'session'")
        if answers not in ("text", "json"):
            raise ValueError(f"answers={answers!r}: expected 'text' or 'json'")
        self._observability = checked_observability("ProcessAdapter", observability)
        if answers == "text" and observability is not ObservabilityLevel.RESPONSE_ONLY:
            raise ValueError(f"answers='text' cannot show what {observability.value!r} claims")
        self.command = [os.fspath(part) for part in command]
        self.is_per_turn = per == "turn"
        self.is_json = answers == "json"
        self.environment = {**os.environ, **(environment or {})} if environment else None
        self.folder = folder
        self._manifest = manifest or AppManifest(name=Path(self.command[0]).name)

    def __repr__(self) -> str:
        return f"ProcessAdapter(<{Path(self.command[0]).name}>)"

    @property
    def manifest(self) -> AppManifest:
        """What the agent can do."""
        return self._manifest

    @property
    def observability_profile(self) -> ObservabilityLevel:
        """What its answers show."""
        return self._observability

    async def create_session_async(self) -> _TurnSession | _LineSession:
        """A session; the program is not started before it is entered."""
        return _TurnSession(self) if self.is_per_turn else _LineSession(self)


class _TurnSession:
    def __init__(self, adapter: ProcessAdapter) -> None:
        self._adapter = adapter

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None

    async def send_async(self, request: Request) -> Response:
        prompt = prompt_of("ProcessAdapter", request)
        program = await _started(self._adapter, takes_errors=True)
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stderr is not None
        try:
            said, complained, _ = await asyncio.gather(
                _read(program.stdout, _name(self._adapter)),
                program.stderr.read(_SHOWN),
                _write(program.stdin, prompt.encode(), ends=True),
            )
            status = await program.wait()
        finally:
            await _end(program, grace_s=0.0)
        if status != 0:
            shown = one_line(complained.decode("utf-8", "replace"), limit=_SHOWN)
            raise InfrastructureError(f"{_name(self._adapter)} ended with status {status}: {shown}")
        return _answer(self._adapter, said)


class _LineSession:
    def __init__(self, adapter: ProcessAdapter) -> None:
        self._adapter = adapter
        self._program: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        self._program = await _started(self._adapter, takes_errors=False)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._program is not None:
            program, self._program = self._program, None
            await _end(program, grace_s=_GRACE_S if exc is None else 0.0)

    async def send_async(self, request: Request) -> Response:
        program = self._program
        if program is None:
            raise InfrastructureError(f"{_name(self._adapter)}: the session is not open")
        assert program.stdin is not None
        assert program.stdout is not None
        prompt = prompt_of("ProcessAdapter", request)
        await _write(program.stdin, json.dumps({"prompt": prompt}).encode() + b"\n", ends=False)
        try:
            line = await program.stdout.readline()
        except ValueError:
            raise _too_large(_name(self._adapter)) from None
        if not line.endswith(b"\n"):
            status = await program.wait()
            raise InfrastructureError(
                f"{_name(self._adapter)} ended with status {status} before it had answered"
            )
        return _answer(self._adapter, line)


async def _started(adapter: ProcessAdapter, *, takes_errors: bool) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    try:
        return await asyncio.create_subprocess_exec(
            *adapter.command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe if takes_errors else asyncio.subprocess.DEVNULL,
            env=adapter.environment,
            cwd=adapter.folder,
            limit=LARGEST_ANSWER,
            start_new_session=True,  # so that its children can be killed with it
        )
    except OSError as error:
        raise InfrastructureError(f"{_name(adapter)} cannot be started: {error}") from None


async def _write(stream: asyncio.StreamWriter, data: bytes, *, ends: bool) -> None:
    with suppress(ConnectionError):  # it ended, or reads no input; its answer tells
        stream.write(data)
        await stream.drain()
    if ends:
        stream.close()


async def _read(stream: asyncio.StreamReader, name: str) -> bytes:
    received = bytearray()
    while part := await stream.read(65_536):
        received += part
        if len(received) > LARGEST_ANSWER:
            raise _too_large(name)
    return bytes(received)


async def _end(program: asyncio.subprocess.Process, *, grace_s: float) -> None:
    if program.stdin is not None:
        program.stdin.close()
    if grace_s:
        with suppress(TimeoutError):
            await asyncio.wait_for(program.wait(), grace_s)
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(program.pid, signal.SIGKILL)
    elif program.returncode is None:
        program.kill()
    await program.wait()


def _answer(adapter: ProcessAdapter, said: bytes) -> Response:
    text = said.decode("utf-8", "replace")
    if not adapter.is_json:
        return Response(text=text.removesuffix("\n"))
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        shown = one_line(text, limit=_SHOWN)
        raise InfrastructureError(f"{_name(adapter)} answered with no JSON: {shown}") from None
    return response_of(parsed, _name(adapter))


def _too_large(name: str) -> InfrastructureError:
    return InfrastructureError(f"{name} answered with more than {LARGEST_ANSWER:,} bytes")


def _name(adapter: ProcessAdapter) -> str:
    return f"the program {Path(adapter.command[0]).name}"
