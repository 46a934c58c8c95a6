"""Language models: asking one, and the embedded one called `local`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.models.answer import StructuredAnswer, TextAnswer
    from seatrial.models.client import ask_structured, ask_text
    from seatrial.models.local import LocalModel, local_model, release_local_model

__all__ = [
    "LocalModel",
    "StructuredAnswer",
    "TextAnswer",
    "ask_structured",
    "ask_text",
    "local_model",
    "release_local_model",
]

_MODULES = {
    "LocalModel": "local",
    "StructuredAnswer": "answer",
    "TextAnswer": "answer",
    "ask_structured": "client",
    "ask_text": "client",
    "local_model": "local",
    "release_local_model": "local",
}


def __getattr__(name: str) -> object:
    # The server's process runs a module of this package and must not load the rest with it.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
