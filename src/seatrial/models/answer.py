"""A question to a model, and what it answered."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Literal

from seatrial.errors import ModelProviderError
from seatrial.models.settings import RequestSettings
from seatrial.snapshot import JsonObject

__all__ = [
    "Answer",
    "Message",
    "Question",
    "Reply",
    "StructuredAnswer",
    "TextAnswer",
    "Usage",
    "parse_object",
]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with the model."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question.

    Attributes:
        history: What was said before, oldest first.
        schema: JSON schema of the object to answer with; None for free text.
        timeout_s: Seconds that one attempt to get an answer may take.
        settings: How the model is to answer.
    """

    system: str
    user: str
    schema: JsonObject | None
    timeout_s: float
    history: tuple[Message, ...] = ()
    settings: RequestSettings = field(default_factory=RequestSettings)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a request took.

    Attributes:
        cost_usd: None if nobody knows the model's price; 0.0 for the embedded model.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back for one question.

    Attributes:
        content: An object if the question had a schema, else text.
        usage: What it took, with that of attempts that gave nothing usable.
        attempts: Requests that were sent.
    """

    content: JsonObject | str
    usage: Usage
    attempts: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Who answered, and what it took.

    Attributes:
        cost_usd: None if nobody knows the model's price; 0.0 for the embedded model.
        attempts: Requests that were sent; 0 if the answer was stored from an earlier time.
        cached: Whether the answer was stored; tokens and cost are then 0.
    """

    model: str
    provider: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    attempts: int = 1
    cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredAnswer(Answer):
    """An answer in the form that the question's schema asked for."""

    data: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAnswer(Answer):
    """An answer in free text."""

    text: str


def parse_object(text: str, *, model: str) -> JsonObject:
    """The JSON object that is the whole of a model's answer.

    Raises:
        ModelProviderError: If the answer is anything else: JSON that was cut off, two objects, an
            object with words around it, a number that JSON does not have, a name given twice.
    """
    try:
        data = json.loads(
            text, parse_constant=_refuse, parse_float=_number, object_pairs_hook=_object
        )
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        shown = text if len(text) <= 200 else text[:200] + "…"
        kind = "unusable" if text.strip() else "empty"
        raise ModelProviderError(
            f"{model} did not answer with a JSON object, but {shown!r}", kind=kind
        )
    return data


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is too large")
    return number


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a name is given twice")
    return data
