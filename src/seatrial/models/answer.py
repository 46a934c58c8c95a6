"""A question to a model, and what it answered."""

from __future__ import annotations

import json
from dataclasses import dataclass

from seatrial.errors import ModelProviderError
from seatrial.snapshot import JsonObject

__all__ = ["Answer", "Question", "Reply", "StructuredAnswer", "TextAnswer", "parse_object"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question.

    Attributes:
        schema: JSON schema of the object to answer with; None for free text.
        timeout_s: Seconds until the answer must be there.
    """

    system: str
    user: str
    schema: JsonObject | None
    timeout_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back for one question.

    Attributes:
        content: An object if the question had a schema, else text.
        cost_usd: None if nobody knows the model's price.
    """

    content: JsonObject | str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Who answered, and what it took.

    Attributes:
        cost_usd: None if nobody knows the model's price; 0.0 for the embedded model.
    """

    model: str
    provider: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredAnswer(Answer):
    """An answer in the form that the question's schema asked for.

    Attributes:
        data: A JSON object with every property that the schema requires; that they have the right
            types is the provider's word, not checked here.
    """

    data: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAnswer(Answer):
    """An answer in free text."""

    text: str


def parse_object(text: str, *, model: str) -> JsonObject:
    """The JSON object in a model's answer.

    Raises:
        ModelProviderError: If the answer is anything else, such as JSON that was cut off.
    """
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise ModelProviderError(f"{model} did not answer with a JSON object, but {text[:200]!r}")
    return data
