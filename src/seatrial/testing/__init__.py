"""Parts for users' own tests: a model server on loopback that answers what a test says."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.testing.model_server import ModelServer
    from seatrial.testing.question import Message, OfferedTool, ReceivedRequest
    from seatrial.testing.replies import (
        ErrorReply,
        RawReply,
        RefusalReply,
        Reply,
        StructuredReply,
        TextReply,
        ToolCall,
        ToolCallReply,
    )

__all__ = [
    "ErrorReply",
    "Message",
    "ModelServer",
    "OfferedTool",
    "RawReply",
    "ReceivedRequest",
    "RefusalReply",
    "Reply",
    "StructuredReply",
    "TextReply",
    "ToolCall",
    "ToolCallReply",
]

_HOMES = {
    "model_server": ("ModelServer",),
    "question": ("Message", "OfferedTool", "ReceivedRequest"),
    "replies": (
        "ErrorReply",
        "RawReply",
        "RefusalReply",
        "Reply",
        "StructuredReply",
        "TextReply",
        "ToolCall",
        "ToolCallReply",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
