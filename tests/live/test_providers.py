"""The real providers, asked with the user's own keys; skipped without them. A few tokens each."""

from __future__ import annotations

import os

import pytest

from seatrial.models import ask_structured, ask_text

_SCHEMA = {
    "type": "object",
    "properties": {"capital": {"type": "string"}},
    "required": ["capital"],
    "additionalProperties": False,
}

providers = pytest.mark.parametrize(
    "model",
    [
        pytest.param(
            model,
            marks=pytest.mark.skipif(not os.environ.get(key), reason=f"{key} is not set"),
            id=model,
        )
        for model, key in (
            ("openai:gpt-4o-mini", "OPENAI_API_KEY"),
            ("anthropic:claude-haiku-4-5", "ANTHROPIC_API_KEY"),
        )
    ],
)


@providers
def test_a_provider_answers_in_words(model: str) -> None:
    answer = ask_text(system="Answer in one word.", user="Capital of France?", model=model)
    assert "Paris" in answer.text
    assert answer.input_tokens > 0
    assert answer.output_tokens > 0


@providers
def test_a_provider_answers_in_the_form_that_was_asked_for(model: str) -> None:
    answer = ask_structured(
        system="Answer as asked.", user="Capital of France?", schema=_SCHEMA, model=model
    )
    assert answer.data == {"capital": "Paris"}
