"""An agent that follows a script, and what surrounds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Self

import pytest

from rampart import AppManifest, LLMConfig, ObservabilityLevel, Request, Response
from rampart.core.execution import (
    clear_default_handler_factory,
    default_handler_factory,
    register_default_handler_factory,
)
from seatrial.scope import TrialScope, bind, unbind
from seatrial.testing import ModelServer, ReceivedRequest, Reply

Step = Response | BaseException | Callable[[], Response]


class ScriptedSession:
    """Answers with the steps of its script, one a turn; errors in it are raised."""

    def __init__(self, agent: ScriptedAgent) -> None:
        self._agent = agent
        self._steps = iter(agent.steps)

    async def __aenter__(self) -> Self:
        self._agent.log.append("open session")
        return self

    async def __aexit__(self, *exc: object) -> bool:
        self._agent.log.append("close session")
        if self._agent.closing_error is not None:
            raise self._agent.closing_error
        return True  # a session that claims to have handled every exception

    async def send_async(self, request: Request) -> Response:
        self._agent.log.append(f"send {request.prompt}")
        self._agent.requests.append(request)
        step = next(self._steps)
        if isinstance(step, BaseException):
            raise step
        return step() if callable(step) else step


class ScriptedAgent:
    """An adapter for it. `log` is all that happened, in order."""

    def __init__(
        self,
        *steps: Step | str,
        observability: object = ObservabilityLevel.TOOL_AND_SIDE_EFFECTS,
        creating_error: Exception | None = None,
        closing_error: BaseException | None = None,
        log: list[str] | None = None,
    ) -> None:
        self.steps = [Response(text=step) if isinstance(step, str) else step for step in steps]
        self.log: list[str] = [] if log is None else log
        self.requests: list[Request] = []
        self.creating_error = creating_error
        self.closing_error = closing_error
        self._observability = observability

    @property
    def manifest(self) -> AppManifest:
        return AppManifest(name="scripted")

    @property
    def observability_profile(self) -> ObservabilityLevel:
        if isinstance(self._observability, Exception):
            raise self._observability
        return self._observability  # type: ignore[return-value]  # some tests lie

    async def create_session_async(self) -> ScriptedSession:
        if self.creating_error is not None:
            raise self.creating_error
        return ScriptedSession(self)


class NotedHandle:
    """An injection that logs what is done with it and breaks where it is told to."""

    def __init__(
        self,
        name: str,
        log: list[str],
        *,
        entering: BaseException | None = None,
        waiting: BaseException | None = None,
        leaving: BaseException | None = None,
    ) -> None:
        self.surface_name = name
        self.payload_id = f"{name}-payload"
        self._log = log
        self._entering, self._waiting, self._leaving = entering, waiting, leaving

    async def __aenter__(self) -> Self:
        self._log.append(f"inject {self.surface_name}")
        if self._entering is not None:
            raise self._entering
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._log.append(f"remove {self.surface_name}")
        if self._leaving is not None:
            raise self._leaving

    async def wait_until_ready(self) -> None:
        if self._waiting is not None:
            raise self._waiting


@pytest.fixture(autouse=True)
def _executions_of_these_tests_are_not_recorded() -> Iterator[None]:
    """They are the subject here, not this run's safety tests."""
    before = default_handler_factory()
    clear_default_handler_factory()
    yield
    if before is not None:
        register_default_handler_factory(before)


@pytest.fixture
def scripted() -> type[ScriptedAgent]:
    """The class of agents that follow a script."""
    return ScriptedAgent


@pytest.fixture
def noted_handle() -> type[NotedHandle]:
    """The class of injections that log."""
    return NotedHandle


@pytest.fixture
def trial_scope() -> Iterator[TrialScope]:
    """The scope of a plain test; what is recorded lands in it."""
    scope = TrialScope(key=None, nodeid="test_x.py::test_x")
    token = bind(scope)
    yield scope
    unbind(token)


Serve = Callable[..., tuple[ModelServer, LLMConfig]]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """`server, llm = serve(reply, ...)`: a model that answers with these in turn, or with `always`.

    Each question is sent once, and the machine's own keys are unset.
    """
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SEATRIAL_MODEL_ATTEMPTS", "1")
    with ExitStack() as servers:

        def _serve(
            *replies: Reply | str,
            always: Reply | Callable[[ReceivedRequest], Reply] | None = None,
            **metadata: object,
        ) -> tuple[ModelServer, LLMConfig]:
            server = ModelServer(answer=always) if always is not None else ModelServer(replies)
            servers.enter_context(server)
            llm = LLMConfig(
                model="judge-model",
                endpoint=server.openai_base_url,
                api_key="sk-never-shown-123456",
                metadata=metadata,
            )
            return server, llm

        yield _serve
