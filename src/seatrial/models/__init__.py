"""Language models: asking one, and the embedded one called `local`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.models.answer import Message, StructuredAnswer, TextAnswer
    from seatrial.models.choice import ModelChoice, choose_model
    from seatrial.models.client import (
        ask_structured,
        ask_structured_async,
        ask_text,
        ask_text_async,
    )
    from seatrial.models.endpoint import choose_endpoint
    from seatrial.models.local import LocalModel, local_model, release_local_model
    from seatrial.models.settings import RequestSettings

__all__ = [
    "LocalModel",
    "Message",
    "ModelChoice",
    "RequestSettings",
    "StructuredAnswer",
    "TextAnswer",
    "ask_structured",
    "ask_structured_async",
    "ask_text",
    "ask_text_async",
    "choose_endpoint",
    "choose_model",
    "local_model",
    "release_local_model",
]

_MODULES = {
    "LocalModel": "local",
    "Message": "answer",
    "ModelChoice": "choice",
    "RequestSettings": "settings",
    "StructuredAnswer": "answer",
    "TextAnswer": "answer",
    "ask_structured": "client",
    "ask_structured_async": "client",
    "ask_text": "client",
    "ask_text_async": "client",
    "choose_endpoint": "endpoint",
    "choose_model": "choice",
    "local_model": "local",
    "release_local_model": "local",
}


def __getattr__(name: str) -> object:
    # The server's process runs a module of this package and must not load the rest with it.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
