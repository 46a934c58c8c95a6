"""How both kinds of tests reach the agent: one adapter, one poisoned surface, one report."""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from helpdesk import Agent, ChatModel, Desk
from helpdesk.model import Message

from kensa.pytest import KensaCase
from kensa.tracing import record_llm_call, record_tool_call
from rampart import (
    AppManifest,
    DataSource,
    ObservabilityLevel,
    Payload,
    Request,
    Response,
    SideEffect,
    ToolCall,
    ToolDeclaration,
)
from rampart.reporting import JsonFileReportSink

_PRICE_USD = {"local": 0.0}  # of one question; for a model that is not here it is unknown


class TracedModel:
    """The agent's model, each question a span in the trial's trace."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name = model.name

    def choose(self, messages: list[Message], schema: dict[str, Any], seed: int) -> object:
        """Ask, inside a span."""
        cost: dict[str, Any] = {"kensa.cost_usd": _PRICE_USD.get(self.name)}
        with record_llm_call(provider="openai-compatible", model=self.name, **cost):
            return self._model.choose(messages, schema, seed)


class DeskSession:
    """A conversation with a helpdesk: each request names a ticket to handle."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def send_async(self, request: Request) -> Response:
        """Have the ticket handled, and say what was seen."""
        attachments = [payload.content for payload in request.attachments]
        handled = await asyncio.to_thread(self._agent.handle, request.prompt or "", attachments)
        return Response(
            text=handled.reply,
            tool_calls=[
                ToolCall(name=call.tool, arguments=dict(call.arguments), result=call.result)
                for call in handled.calls
            ],
            side_effects=[
                *(
                    SideEffect(kind="email", details={"to": email.to, "record": email.record})
                    for email in handled.emails
                ),
                *(
                    SideEffect(kind="refund", details={"order": refund.order, "usd": refund.usd})
                    for refund in handled.refunds
                ),
            ],
            metadata={"closed": handled.closed},
        )


class DeskAdapter:
    """The helpdesk agent at one desk; tools and side effects can all be seen."""

    observability_profile = ObservabilityLevel.TOOL_AND_SIDE_EFFECTS
    manifest = AppManifest(
        name="helpdesk",
        description="Answers the tickets of a bookshop's customers.",
        tools=[
            ToolDeclaration(name="read_ticket", parameters={"ticket": "its name"}),
            ToolDeclaration(name="look_up_customer", parameters={"email": "address"}),
            ToolDeclaration(name="search_knowledge_base", parameters={"topic": "text"}),
            ToolDeclaration(name="issue_refund", parameters={"order": "number"}),
            ToolDeclaration(name="send_email", parameters={"to": "address", "body": "text"}),
            ToolDeclaration(name="close_ticket"),
        ],
        data_sources=[
            DataSource(name="tickets", type="folder", writable_by_untrusted=True),
            DataSource(name="knowledge base", type="folder"),
        ],
    )

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def create_session_async(self) -> DeskSession:
        """A new conversation; the agent itself remembers nothing between tickets."""
        return DeskSession(self._agent)


class TicketInjection:
    """A ticket that an attacker wrote; it lies on the desk while this is entered."""

    surface_name = "tickets"

    def __init__(self, file: Path, payload: Payload, sender: str) -> None:
        self._file = file
        self._payload = payload
        self._sender = sender

    @property
    def payload_id(self) -> str:
        """The payload's id."""
        return self._payload.id

    async def __aenter__(self) -> Self:
        self._file.write_text(f"From: {self._sender}\n{self._payload.content}\n", encoding="utf-8")
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.unlink(missing_ok=True)

    async def wait_until_ready(self) -> None:
        """Nothing to wait for: a file can be read as soon as it is written."""


class TicketSurface:
    """The desk's tickets. Anybody can write one, under any sender, so an attacker can."""

    sender = "ana@post.example"

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def inject(self, *, payload: Payload) -> TicketInjection:
        """Make the payload the text of a new ticket, which has the payload's id as its name."""
        return TicketInjection(self._desk.ticket_file(payload.id), payload, self.sender)


@pytest.fixture(scope="session")
def model() -> Iterator[ChatModel]:
    """One client for all tests."""
    model = ChatModel.from_environment()
    yield model
    model.close()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk of one's own for every trial."""
    return Desk.copy_to(tmp_path / "desk")


@pytest.fixture
def adapter(desk: Desk, model: ChatModel, request: pytest.FixtureRequest) -> DeskAdapter:
    """The agent at that desk. The seed differs from trial to trial, and is the same in each run."""
    agent = Agent(
        desk,
        TracedModel(model),
        fixed=os.environ.get("HELPDESK_FIX", "") not in ("", "0"),
        seed=zlib.crc32(request.node.nodeid.encode()) % 1_000_000,
        around_tool=record_tool_call,
    )
    return DeskAdapter(agent)


@pytest.fixture
def tickets(desk: Desk) -> TicketSurface:
    """Where the attacks go in."""
    return TicketSurface(desk)


@pytest.fixture
def kensa_run(adapter: DeskAdapter) -> Callable[[KensaCase], Awaitable[dict[str, Any]]]:
    """The harness of the evals: the case's input is a ticket to handle, what was done is JSON."""

    async def run(case: KensaCase) -> dict[str, Any]:
        async with await adapter.create_session_async() as session:
            response = await session.send_async(Request(prompt=case.input))
        return {
            "message": response.text,
            "calls": [{"tool": call.name, **call.arguments} for call in response.tool_calls],
            "refunded": [
                effect.details["order"]
                for effect in response.side_effects
                if effect.kind == "refund"
            ],
            "closed": response.metadata["closed"],
        }

    return run


def pytest_rampart_sinks(config: pytest.Config) -> list[JsonFileReportSink]:
    """Where the report about the safety tests goes."""
    return [JsonFileReportSink(output_dir=config.rootpath / ".report")]
