from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from seatrial.models.prices import input_tokens, output_tokens, price_usd
from seatrial.trace import Span

pytest.importorskip("genai_prices", reason="the extra `llm` is not installed")

MOMENT = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1e9)


def span(start_ns: int | None = MOMENT, **attributes: Any) -> Span:
    """A model turn; `__` in a name stands for a dot."""
    return Span(
        name="chat",
        kind="llm",
        tool_name=None,
        trace_id="1",
        span_id="1",
        parent_span_id=None,
        start_ns=start_ns,
        end_ns=start_ns,
        status="ok",
        attributes={name.replace("__", "."): value for name, value in attributes.items()},
    )


GENAI: dict[str, Any] = {
    "gen_ai__provider__name": "openai",
    "gen_ai__request__model": "gpt-4o-mini",
    "gen_ai__usage__input_tokens": 1_000_000,
    "gen_ai__usage__output_tokens": 100_000,
}
"""$0.21, by OpenTelemetry's names."""


def with_(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**GENAI, **changes}.items() if value is not None}


OPENINFERENCE = {
    "llm__provider": "openai",
    "llm__model_name": "gpt-4o-mini",
    "llm__token_count__prompt": 1_000_000,
    "llm__token_count__completion": 100_000,
}
OLDER = {
    "gen_ai__system": "openai",
    "gen_ai__request__model": "gpt-4o-mini",
    "gen_ai__usage__prompt_tokens": 1_000_000,
    "gen_ai__usage__completion_tokens": 100_000,
}


@pytest.mark.parametrize(
    "attributes",
    [
        GENAI,
        OPENINFERENCE,
        OLDER,
        with_(gen_ai__provider__name=None),
        with_(gen_ai__response__model="gpt-4o-mini-2024-07-18"),
        with_(gen_ai__response__model="the-deployment"),
        with_(gen_ai__provider__name="azure.ai.openai"),
        with_(gen_ai__usage__input_tokens=1_000_000.0),
    ],
    ids=[
        "OpenTelemetry",
        "OpenInference",
        "older conventions",
        "no provider",
        "dated model",
        "a response's model that nobody knows",
        "Azure",
        "a float",
    ],
)
def test_model_and_tokens_make_a_price(attributes: dict[str, Any]) -> None:
    turn = (span(**attributes),)

    assert price_usd(turn) == pytest.approx(0.21)
    assert (input_tokens(turn), output_tokens(turn)) == (1_000_000, 100_000)


def test_tokens_from_the_providers_cache_cost_less() -> None:
    cached = span(**with_(gen_ai__usage__cache_read__input_tokens=1_000_000))

    assert price_usd((cached,)) == pytest.approx(0.075 + 0.06)


def test_what_the_outer_span_leaves_out_the_inner_one_may_say() -> None:
    outer = span(kensa__llm__provider="openai", kensa__llm__model="gpt-4o-mini")

    assert price_usd((outer,)) is None
    assert price_usd((outer, span(**GENAI))) == pytest.approx(0.21)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        with_(gen_ai__request__model=None),
        with_(gen_ai__request__model="a-model-of-ours"),
        with_(gen_ai__request__model=""),
        with_(gen_ai__request__model=7),
        with_(gen_ai__provider__name="our-gateway"),
        with_(gen_ai__usage__input_tokens=None),
        with_(gen_ai__usage__output_tokens=None),
        with_(gen_ai__usage__input_tokens=-1),
        with_(gen_ai__usage__input_tokens=True),
        with_(gen_ai__usage__input_tokens="1000"),
        with_(gen_ai__usage__input_tokens=10**30),
        with_(gen_ai__usage__input_tokens=float("inf")),
        with_(gen_ai__usage__cache_read__input_tokens=2_000_000),
    ],
)
def test_what_is_unknown_stays_unknown(attributes: dict[str, Any]) -> None:
    assert price_usd((span(**attributes),)) is None


@pytest.mark.parametrize("start_ns", [None, 0, -(2**62), 2**90])
def test_a_turn_without_a_sensible_time_has_a_price(start_ns: int | None) -> None:
    assert price_usd((span(start_ns, **GENAI),)) is not None


def test_without_the_price_list_the_price_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)

    assert price_usd((span(**GENAI),)) is None
