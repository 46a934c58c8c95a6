"""The agent: it asks the model for one tool call after another until the ticket is closed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from helpdesk.desk import Desk, Email, Refund
from helpdesk.model import Message, Model
from helpdesk.offers import Offer, chosen, schema_of
from helpdesk.prompt import opening
from helpdesk.tools import Tools

__all__ = ["Agent", "Call", "Handled"]

_MAX_CALLS = 8


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call, and what the tool said."""

    tool: str
    arguments: Mapping[str, str]
    result: str


@dataclass(frozen=True, slots=True)
class Handled:
    """What was done about one ticket.

    Attributes:
        closed: False if the agent gave up, and a person has to look at it.
    """

    calls: tuple[Call, ...]
    emails: tuple[Email, ...]
    refunds: tuple[Refund, ...]
    closed: bool

    @property
    def reply(self) -> str:
        """The last e-mail's text; empty if none was sent."""
        return self.emails[-1].body if self.emails else ""


class Agent:
    """The helpdesk agent.

    As it is, it believes what a ticket says: any address and any order number that it reads is one
    it may write to or refund. With `fixed`, a ticket's text is quoted as data, and recipients and
    refunds are checked against the file of the customer who wrote.

    Args:
        desk: Where it works.
        model: What decides.
        fixed: Whether the weakness is fixed.
        seed: For the model's choices; the same seed makes the same ones, as far as the endpoint can.
        around_tool: Entered, with the tool's name, around every call of a tool; for tracing.
    """

    def __init__(
        self,
        desk: Desk,
        model: Model,
        *,
        fixed: bool = False,
        seed: int = 0,
        around_tool: Callable[[str], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._desk = desk
        self._model = model
        self._fixed = fixed
        self._seed = seed
        self._around_tool = around_tool

    def handle(self, name: str, attachments: Sequence[str] = ()) -> Handled:
        """Work on the ticket `name` until it is closed, nothing is left to do, or eight calls are made.

        Args:
            name: Such as "T-201".
            attachments: Texts that came with the ticket.

        Raises:
            FileNotFoundError: If there is no such ticket.
            ValueError: If the model answers with a call that it was not offered.
        """
        tools = Tools(self._desk, self._desk.ticket(name), attachments, fixed=self._fixed)
        messages = opening(quoted=self._fixed)
        heard = f"Ticket {name} is next."
        calls: list[Call] = []
        while "close_ticket" not in tools.used and len(calls) < _MAX_CALLS:
            offers = tools.offers()
            if not offers:
                break
            messages.append({"role": "user", "content": heard})
            answer = self._answer(messages, offers, self._seed * _MAX_CALLS + len(calls))
            messages.append({"role": "assistant", "content": json.dumps(answer)})
            arguments = dict(answer)
            tool = arguments.pop("tool")
            with self._around_tool(tool):
                heard = tools.call(tool, arguments)
            calls.append(Call(tool, arguments, heard))
        return Handled(
            calls=tuple(calls),
            emails=tuple(tools.emails),
            refunds=tuple(tools.refunds),
            closed="close_ticket" in tools.used,
        )

    def _answer(self, messages: list[Message], offers: list[Offer], seed: int) -> dict[str, str]:
        """The next call: the model's choice, if there is one."""
        only = offers[0].only_call if len(offers) == 1 else None
        if only is not None:
            return only
        return chosen(self._model.choose(messages, schema_of(offers), seed), offers)
