"""What a model turn cost that states who answered and how many tokens it took, but no amount.

By the price lists of `genai-prices`, which comes with the extra `llm`. Without it, and for a model
that it does not know, the price is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from seatrial.snapshot import Json
from seatrial.trace import Span

__all__ = ["input_tokens", "output_tokens", "price_usd"]

# In each row OpenTelemetry's conventions first, then older ones and OpenInference's.
_INPUT = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
_OUTPUT = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
)
_CACHE_READ = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_tokens",
    "llm.token_count.prompt_details.cache_read",
)
_CACHE_WRITE = (
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_write_tokens",
    "llm.token_count.prompt_details.cache_write",
)
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "kensa.llm.model", "llm.model_name")
_PROVIDERS = (
    "gen_ai.provider.name",
    "gen_ai.system",
    "kensa.llm.provider",
    "llm.provider",
    "llm.system",
)


def input_tokens(turn: Iterable[Span]) -> int | None:
    """What the model read, cached tokens included; None if the turn does not say."""
    return _tokens(turn, _INPUT)


def output_tokens(turn: Iterable[Span]) -> int | None:
    """What the model wrote; None if the turn does not say."""
    return _tokens(turn, _OUTPUT)


def price_usd(turn: tuple[Span, ...]) -> float | None:
    """The turn's price at the time of the turn; None if it is unknown.

    Args:
        turn: All spans that show it; what one leaves out, another may say.
    """
    read, written = input_tokens(turn), output_tokens(turn)
    if read is None or written is None:
        return None
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    usage = Usage(
        input_tokens=read,
        output_tokens=written,
        cache_read_tokens=_tokens(turn, _CACHE_READ),
        cache_write_tokens=_tokens(turn, _CACHE_WRITE),
    )
    provider = next(_stated(turn, _PROVIDERS), None)
    for model in _stated(turn, _MODELS):
        try:
            price = calc_price(
                usage, model, provider_id=provider, genai_request_timestamp=_moment(turn)
            )
        except (LookupError, ValueError):  # ValueError: more tokens from a cache than were read
            continue
        amount = float(price.total_price)
        return amount if math.isfinite(amount) and amount >= 0 else None
    return None


def _tokens(turn: Iterable[Span], names: tuple[str, ...]) -> int | None:
    for span in turn:
        for name in names:
            number = _whole(span.attributes.get(name))
            if number is not None:
                return number
    return None


def _whole(value: Json) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value < 2**53 else None


def _stated(turn: tuple[Span, ...], names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        for span in turn:
            value = span.attributes.get(name)
            if isinstance(value, str) and value:
                yield value


def _moment(turn: tuple[Span, ...]) -> datetime | None:
    start_ns = turn[0].start_ns
    try:
        return None if start_ns is None else datetime.fromtimestamp(start_ns / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        return None
