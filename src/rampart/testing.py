"""A scripted agent, for tests of your own evaluators, drivers and strategies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

from rampart.core.manifest import AppManifest
from rampart.core.types import ObservabilityLevel, Request, Response

__all__ = ["ScriptedAdapter", "ScriptedSession", "Step"]

Step: TypeAlias = str | Response | Exception | Callable[[Request], "str | Response"]
"""What an agent does in one turn: say text, give a response, raise, or answer by a function."""


class ScriptedAdapter:
    """An agent that follows a script, from its beginning in every session.

    Attributes:
        requests: What was sent, in all sessions, oldest first.
        sessions: Every session that was made, oldest first.

    Args:
        steps: What it does, one a turn. A single step is repeated for ever.
        observability: What it claims to show.
        manifest: What it claims to be able to do.
    """

    def __init__(
        self,
        steps: Step | Sequence[Step],
        *,
        observability: ObservabilityLevel = ObservabilityLevel.TOOL_AND_SIDE_EFFECTS,
        manifest: AppManifest | None = None,
    ) -> None:
        self._repeats = not isinstance(steps, (list, tuple))
        script: list[Any] = list(steps) if isinstance(steps, (list, tuple)) else [steps]
        self._steps: tuple[Step, ...] = tuple(script)
        if not self._steps:
            raise ValueError("a ScriptedAdapter needs at least one step")
        for step in self._steps:
            if not isinstance(step, (str, Response, Exception)) and not callable(step):
                raise TypeError(
                    f"a step must be text, a Response, an exception or a function, not {step!r:.200}"
                )
        self._observability = observability
        self._manifest = manifest or AppManifest(name="scripted")
        self.requests: list[Request] = []
        self.sessions: list[ScriptedSession] = []

    @property
    def manifest(self) -> AppManifest:
        """What it claims to be able to do."""
        return self._manifest

    @property
    def observability_profile(self) -> ObservabilityLevel:
        """What it claims to show."""
        return self._observability

    async def create_session_async(self) -> ScriptedSession:
        """A session at the beginning of the script."""
        session = ScriptedSession(self)
        self.sessions.append(session)
        return session

    def _step(self, turn: int) -> Step:
        if self._repeats:
            return self._steps[0]
        if turn >= len(self._steps):
            raise AssertionError(f"the script has ended after {len(self._steps)} turns")
        return self._steps[turn]


class ScriptedSession:
    """One conversation with a `ScriptedAdapter`.

    Attributes:
        requests: What was sent in it, oldest first.
        is_open: Whether it was entered and not yet left.
    """

    def __init__(self, adapter: ScriptedAdapter) -> None:
        self._adapter = adapter
        self.requests: list[Request] = []
        self.is_open = False

    async def __aenter__(self) -> Self:
        self.is_open = True
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.is_open = False

    async def send_async(self, request: Request) -> Response:
        """Do the next step of the script."""
        step = self._adapter._step(len(self.requests))  # noqa: SLF001 - one class in two parts
        self.requests.append(request)
        self._adapter.requests.append(request)
        if isinstance(step, Exception):
            raise step
        answer = step if isinstance(step, (str, Response)) else step(request)
        return Response(text=answer) if isinstance(answer, str) else answer
