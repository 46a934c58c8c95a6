"""A small helpdesk agent for a bookshop, with a weakness that its tests find.

It answers one ticket at a time: a language model chooses tool calls until the ticket is closed.
"""

from helpdesk.agent import Agent, Call, Handled
from helpdesk.desk import Customer, Desk, Email, Refund, Ticket
from helpdesk.model import ChatModel, Model

__all__ = [
    "Agent",
    "Call",
    "ChatModel",
    "Customer",
    "Desk",
    "Email",
    "Handled",
    "Model",
    "Refund",
    "Ticket",
]
