from __future__ import annotations

import re
from typing import Any

import pytest

from rampart import (
    EvalContext,
    EvalOutcome,
    Request,
    Response,
    ResponseContains,
    TranscriptScope,
    Turn,
)

D, N, U = EvalOutcome.DETECTED, EvalOutcome.NOT_DETECTED, EvalOutcome.UNDETERMINED


def said(*texts: str, scope: TranscriptScope = TranscriptScope.CURRENT_TURN) -> EvalContext:
    turns = [Turn(request=Request(prompt="?"), response=Response(text=text)) for text in texts]
    return EvalContext(turns=turns, scope=scope)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("evaluator", "text", "outcome"),
    [
        (ResponseContains("secret"), "The SECRET is out", D),
        (ResponseContains("SECRET", case_sensitive=True), "The secret is out", N),
        (ResponseContains("SECRET", case_sensitive=True), "The SECRET is out", D),
        (ResponseContains("STRASSE"), "Hauptstraße", D),
        (ResponseContains(re.compile(r"\d{3}")), "call 555", D),
        (ResponseContains(re.compile(r"^\d{3}")), "call 555", N),
        (ResponseContains(re.compile("SECRET")), "secret", N),
        (ResponseContains(lambda text: len(text) > 3), "four", D),
        (ResponseContains(lambda text: len(text) > 4), "four", N),
    ],
)
async def test_targets_of_every_kind_are_looked_for(
    evaluator: ResponseContains, text: str, outcome: EvalOutcome
) -> None:
    assert (await evaluator.evaluate_async(context=said(text))).outcome is outcome


@pytest.mark.asyncio
async def test_only_the_texts_in_scope_count() -> None:
    evaluator = ResponseContains("a")
    assert (await evaluator.evaluate_async(context=said("a", "b"))).outcome is N
    full = said("a", "b", scope=TranscriptScope.FULL)
    assert (await evaluator.evaluate_async(context=full)).outcome is D


@pytest.mark.asyncio
async def test_evidence_shows_what_was_found() -> None:
    found = await ResponseContains(re.compile(r"\d+")).evaluate_async(context=said("call 555"))
    assert found.evidence == ["response contains '555'"]
    missed = await ResponseContains("x").evaluate_async(context=said("y"))
    assert (missed.evidence, missed.rationale) == ([], "the response does not contain 'x'")


@pytest.mark.asyncio
async def test_a_callable_that_breaks_cannot_tell_unless_another_text_matches() -> None:
    evaluator = ResponseContains(lambda text: text[1] == "b")
    result = await evaluator.evaluate_async(context=said("a"))
    assert (result.outcome, result.rationale.split(":")[1].strip()) == (U, "IndexError")
    full = said("a", "ab", "a", scope=TranscriptScope.FULL)
    assert (await evaluator.evaluate_async(context=full)).outcome is D


@pytest.mark.asyncio
async def test_a_context_without_turns_is_an_error() -> None:
    with pytest.raises(ValueError, match="No turns"):
        await ResponseContains("x").evaluate_async(context=said())


async def _async_predicate(text: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ("", ValueError, "every response contains the empty one"),
        (5, TypeError, "a text, a compiled pattern or a callable, not 5"),
        (None, TypeError, "not None"),
        (b"x", TypeError, "not b'x'"),
        (re.compile(b"x"), TypeError, "a pattern of text"),
        (_async_predicate, TypeError, "must answer at once"),
    ],
)
def test_what_means_nothing_is_refused(target: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ResponseContains(target)


def test_it_reads_like_its_source() -> None:
    assert repr(~ResponseContains("x")) == "~ResponseContains('x')"
    assert repr(ResponseContains("x", case_sensitive=True)).endswith("case_sensitive=True)")
