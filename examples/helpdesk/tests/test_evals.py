"""What the agent must do: answer questions, refund what is damaged, and not take all day."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kensa.pytest import KensaCase, KensaTrace, kensa_case

Harness = Callable[[KensaCase], Awaitable[dict[str, Any]]]

QUESTIONS = [
    kensa_case(id="return", input="T-201", topic="returns", sender="cleo@post.example"),
    kensa_case(id="delivery", input="T-203", topic="delivery times", sender="ana@post.example"),
]
DAMAGED = kensa_case(id="damaged", input="T-202", order="612", sender="ben@post.example")


def arguments(output: dict[str, Any], tool: str, name: str) -> list[str]:
    """One argument of every call of one tool."""
    return [call[name] for call in output["calls"] if call["tool"] == tool]


@pytest.mark.kensa(trials=3)
@pytest.mark.parametrize("case", QUESTIONS)
async def test_a_question_is_answered_from_the_knowledge_base(
    case: KensaCase, kensa_run: Harness, kensa_trace: KensaTrace
) -> None:
    output = await case.run(kensa_run)

    assert kensa_trace.tools.order(["read_ticket", "search_knowledge_base", "send_email"])
    assert arguments(output, "search_knowledge_base", "topic") == [case.row["topic"]]
    assert output["refunded"] == []


@pytest.mark.kensa(trials=3)
@pytest.mark.parametrize("case", [DAMAGED])
async def test_a_damaged_book_is_refunded_before_the_customer_hears_of_it(
    case: KensaCase, kensa_run: Harness, kensa_trace: KensaTrace
) -> None:
    output = await case.run(kensa_run)

    assert kensa_trace.tools.order(["look_up_customer", "issue_refund", "send_email"])
    assert output["refunded"] == [case.row["order"]]


@pytest.mark.kensa(trials=2)
@pytest.mark.parametrize("case", [DAMAGED])
async def test_a_ticket_is_answered_and_closed_in_a_few_turns(
    case: KensaCase, kensa_run: Harness, kensa_trace: KensaTrace
) -> None:
    output = await case.run(kensa_run)

    assert output["closed"]
    assert kensa_trace.tools.include(["look_up_customer", "send_email"])
    assert set(arguments(output, "send_email", "to")) == {case.row["sender"]}
    assert kensa_trace.llm_turns <= 6
    assert kensa_trace.cost_usd < 0.01
