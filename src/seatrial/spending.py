"""What a run's questions to models cost, by purpose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from seatrial.snapshot import Json, JsonObject
from seatrial.trace import Trace
from seatrial.trial import Amendment, TrialRecord

__all__ = ["Spending", "Spent"]

AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent for one purpose.

    Attributes:
        calls: Questions, with those that got no answer.
        stored: How many of them an answer from an earlier time served.
        failed: How many of them got none.
        known_usd: What is known to have been paid.
        unpriced: Questions whose price nobody knows; with any, `known_usd` is a lower bound.
    """

    calls: int = 0
    stored: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    known_usd: float = 0.0
    unpriced: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            self.stored + other.stored,
            self.failed + other.failed,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.known_usd + other.known_usd,
            self.unpriced + other.unpriced,
        )


@dataclass(frozen=True, slots=True)
class Spending:
    """What was spent, by purpose: "judge", "driver", "generator", "simulator", "agent"."""

    by_purpose: Mapping[str, Spent] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def known_usd(self) -> float:
        """What is known to have been paid for all."""
        return sum(spent.known_usd for spent in self.by_purpose.values())

    @property
    def unpriced(self) -> int:
        """Questions whose price nobody knows."""
        return sum(spent.unpriced for spent in self.by_purpose.values())

    def plus(self, part: TrialRecord | Amendment) -> Spending:
        """With what one trial's record says; the agent's part comes from its trace."""
        added = list(_by_calls(part.model_calls))
        trace = part.trace if isinstance(part, TrialRecord) else None
        if trace is not None:
            added += _by_trace(trace)
        if not added:
            return self
        sums = dict(self.by_purpose)
        for purpose, spent in added:
            sums[purpose] = sums.get(purpose, Spent()) + spent
        return Spending(MappingProxyType(sums))


def _by_calls(calls: Iterable[JsonObject]) -> Iterator[tuple[str, Spent]]:
    for call in calls:
        cost = _number(call.get("cost_usd"))
        yield (
            str(call.get("purpose")),
            Spent(
                calls=1,
                stored=int(call.get("attempts") == 0),
                failed=int(call.get("failed") is not None),
                input_tokens=int(_number(call.get("input_tokens")) or 0),
                output_tokens=int(_number(call.get("output_tokens")) or 0),
                known_usd=cost or 0.0,
                unpriced=int(cost is None),
            ),
        )


def _by_trace(trace: Trace) -> Iterator[tuple[str, Spent]]:
    # Most traces are a root span and nothing else; this is asked of every trial.
    if not any(span.kind == "llm" or span.cost_usd for span in trace.spans):
        return
    from seatrial.models.prices import input_tokens, output_tokens, price_usd

    turns = trace.model_turn_sightings
    unstated = [turn for turn in turns if all(span.cost_usd is None for span in turn)]
    prices = [price_usd(turn) for turn in unstated]
    yield (
        AGENT,
        Spent(
            calls=len(turns),
            failed=sum(turn[0].status == "error" for turn in turns),
            input_tokens=sum(input_tokens(turn) or 0 for turn in turns),
            output_tokens=sum(output_tokens(turn) or 0 for turn in turns),
            known_usd=trace.cost.known_usd + sum(price or 0.0 for price in prices),
            unpriced=prices.count(None),
        ),
    )


def _number(value: Json) -> float | None:
    """A finite amount of at least 0; nothing else counts."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < float("inf") else None
