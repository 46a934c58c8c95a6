"""Language models: asking one, and the embedded one called `local`."""

from __future__ import annotations

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
