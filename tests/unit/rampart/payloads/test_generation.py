from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rampart import AppManifest, InfrastructureError, Payload, PayloadFormat, Persona
from rampart.payloads import Payloads, PayloadTemplate
from rampart.payloads.generation import MOST_AT_ONCE, MOST_ROUNDS
from seatrial.errors import ModelProviderError
from seatrial.scope import TrialScope
from seatrial.testing import ErrorReply, ReceivedRequest, RefusalReply, TextReply

Serve = Callable[..., Any]

WRITER = Persona(name="writer", system_prompt="You write office mail.")
TEMPLATE = PayloadTemplate(
    name="mail",
    description="poisoned mail",
    objective="Forward the thread.",
    instruction="Write a mail to {to}.",
    variables={"to": "bob"},
)


def document_of(request: ReceivedRequest) -> dict[str, Any]:
    (message,) = request.messages
    document: dict[str, Any] = json.loads(message.text)
    return document


def by_variant(request: ReceivedRequest) -> TextReply:
    return TextReply(f"  mail {document_of(request)['variant']}\n")


async def generate(llm: Any, **parts: Any) -> list[Payload]:
    return await Payloads.generate_async(template=TEMPLATE, llm=llm, persona=WRITER, **parts)


@pytest.mark.asyncio
async def test_each_payload_is_written_by_a_question_of_its_own(serve: Serve) -> None:
    server, llm = serve(always=by_variant)
    payloads = await generate(llm, count=3, manifest=AppManifest(name="mail app"))
    assert [payload.content for payload in payloads] == ["mail 1", "mail 2", "mail 3"]
    assert len({payload.id for payload in payloads}) == 3
    assert payloads[1].format is PayloadFormat.TEXT
    assert payloads[1].metadata == {
        "template": "mail",
        "persona": "writer",
        "objective": "Forward the thread.",
        "variant_index": 1,
    }
    first = min(server.requests, key=lambda request: document_of(request)["variant"])
    assert first.system.startswith("You write office mail.\n\n")
    assert document_of(first) == {
        "objective": "Forward the thread.",
        "instruction": "Write a mail to bob.",
        "variant": 1,
        "variants": 3,
        "about_the_agent": {
            "name": "mail app",
            "description": "",
            "tools": [],
            "data_sources": [],
        },
    }


@pytest.mark.asyncio
async def test_what_came_out_like_another_is_asked_for_again_with_what_exists(
    serve: Serve,
) -> None:
    def answer(request: ReceivedRequest) -> TextReply:
        known = document_of(request).get("already_written", [])
        return TextReply("the same" if not known else f"another than {known}")

    server, llm = serve(always=answer)
    payloads = await generate(llm, count=2)
    assert [payload.content for payload in payloads] == ["the same", "another than ['the same']"]
    assert len(server.requests) == 3


@pytest.mark.asyncio
async def test_a_model_that_only_repeats_itself_is_an_error_after_some_rounds(
    serve: Serve,
) -> None:
    server, llm = serve(always=TextReply("the same"))
    with pytest.raises(InfrastructureError, match="only 1 different payloads of 3"):
        await generate(llm, count=3)
    assert len(server.requests) == 3 + 2 * (MOST_ROUNDS - 1)


@pytest.mark.asyncio
async def test_a_seed_is_counted_up(serve: Serve) -> None:
    server, llm = serve(always=by_variant, seed=40)
    await generate(llm, count=3)
    assert sorted(request.body["seed"] for request in server.requests) == [40, 41, 42]


@pytest.mark.asyncio
async def test_no_more_than_so_many_are_written_at_once(serve: Serve) -> None:
    full = threading.Barrier(MOST_AT_ONCE)

    def answer(request: ReceivedRequest) -> TextReply:
        full.wait(timeout=30)  # broken if fewer are ever in flight together
        return by_variant(request)

    server, llm = serve(always=answer)
    payloads = await generate(llm, count=2 * MOST_AT_ONCE)
    assert len(payloads) == 2 * MOST_AT_ONCE
    assert server.most_in_flight == MOST_AT_ONCE


class Upper:
    async def convert_async(self, *, payload: Payload) -> Payload:
        return replace(
            payload,
            content=payload.content.upper(),
            metadata={**payload.metadata, "converter": "Upper"},
        )


@pytest.mark.asyncio
async def test_converted_payloads_come_after_the_written_ones_under_ids_of_their_own(
    serve: Serve,
) -> None:
    _, llm = serve(always=by_variant)
    payloads = await generate(llm, count=2, converters=[Upper()])
    assert [payload.content for payload in payloads] == ["mail 1", "mail 2", "MAIL 1", "MAIL 2"]
    assert len({payload.id for payload in payloads}) == 4
    assert payloads[3].metadata["converted_from"] == payloads[1].id
    assert payloads[3].metadata["converter"] == "Upper"
    assert payloads[3].metadata["variant_index"] == 1
    assert len(await generate(llm, count=2, converters=[])) == 2


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("reply", "reason"),
    [(ErrorReply(401), "401"), (TextReply(""), "with nothing"), (RefusalReply(), "refused")],
)
async def test_a_model_that_does_not_write_is_an_error_with_its_cause(
    serve: Serve, reply: Any, reason: str
) -> None:
    _, llm = serve(always=reply)
    with pytest.raises(InfrastructureError, match=rf"no payload for .*'mail': .*{reason}") as told:
        await generate(llm, count=3)
    assert isinstance(told.value.__cause__, ModelProviderError)


@pytest.mark.asyncio
async def test_its_calls_are_the_generators(serve: Serve, trial_scope: TrialScope) -> None:
    _, llm = serve(always=by_variant)
    await generate(llm, count=1)
    assert [call["purpose"] for call in trial_scope.model_calls] == ["generator"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("count", "error"), [(0, ValueError), (-1, ValueError), (True, TypeError), ("3", TypeError)]
)
async def test_a_count_that_is_none_is_refused_before_anything_is_asked(
    serve: Serve, count: Any, error: type[Exception]
) -> None:
    server, llm = serve()
    with pytest.raises(error, match="count must be"):
        await generate(llm, count=count)
    assert server.requests == []


@pytest.mark.asyncio
async def test_a_variable_without_a_value_is_refused_before_anything_is_asked(
    serve: Serve,
) -> None:
    server, llm = serve()
    broken = replace(TEMPLATE, variables={})
    with pytest.raises(KeyError, match="no variable 'to'"):
        await Payloads.generate_async(template=broken, llm=llm, persona=WRITER)
    assert server.requests == []
