"""Whether payloads reached the agent: an attack that never arrived proves nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rampart.core.errors import describe_error
from rampart.core.evidence import Evidence
from rampart.core.injection import InjectionHandle
from rampart.core.timeouts import Timeouts, within
from rampart.core.types import Channel, ObservabilityLevel, Turn
from seatrial.scope import current_scope
from seatrial.snapshot import Json

__all__ = ["observe_delivery"]


async def observe_delivery(
    handles: Sequence[InjectionHandle],
    evidence: Evidence,
    observability: ObservabilityLevel,
    timeouts: Timeouts,
    *,
    first: int = 0,
) -> None:
    """Note with each injection whether the agent has met it: True, False, or None if nobody saw.

    A handle may say so itself, by `async delivered_async() -> bool | None`, as surfaces can that
    see who reads them. One that has a `canary` is looked for in what the agent's tools returned, in
    its trace, and in what `seatrial.testing` model servers were asked. Where tool calls can be seen
    and the canary is in none of these, the payload was not delivered.

    Args:
        handles: In the order in which they were put in place.
        evidence: What is noted in.
        observability: What the adapter can see.
        timeouts: How long a handle may think.
        first: The place of the first handle's injection in the evidence.
    """
    in_place = handles[: len(evidence.injections) - first]
    for place, handle in enumerate(in_place, first):
        told = await _told(handle, evidence, timeouts)
        seen = _seen(handle, evidence.turns, observability)
        delivered = True if True in (told, seen) else told if seen is None else seen
        evidence.injections[place] = replace(evidence.injections[place], delivered=delivered)


async def _told(handle: InjectionHandle, evidence: Evidence, timeouts: Timeouts) -> bool | None:
    ask = getattr(handle, "delivered_async", None)
    if not callable(ask):
        return None
    try:
        told = await within(timeouts.ready, ask(), "asking a surface about its delivery")
    except Exception as error:  # noqa: BLE001 - foreign code: what it cannot say nobody knows
        evidence.notes.append(
            f"surface {handle.surface_name}: delivery unknown: {describe_error(error)}"
        )
        return None
    return told if isinstance(told, bool) else None


def _seen(
    handle: InjectionHandle, turns: Sequence[Turn], observability: ObservabilityLevel
) -> bool | None:
    canary = getattr(handle, "canary", None)
    if not isinstance(canary, str) or not canary:
        return None
    results = (call.result for turn in turns for call in turn.response.tool_calls)
    if any(canary in text for text in _texts(results)):
        return True
    if any(canary in text for text in _traced()) or any(canary in text for text in _asked()):
        return True
    return False if Channel.TOOL_CALLS in observability.channels else None


def _traced() -> Iterator[str]:
    scope = current_scope()
    if scope is None or scope.spans is None:
        return
    from seatrial.capture import read_trace

    for span in read_trace(scope).spans:
        yield from _texts(span.attributes.values())


def _asked() -> Iterator[str]:
    servers = sys.modules.get("seatrial.testing.model_server")
    if servers is not None:
        for request in servers.recent_requests():
            yield from (message.text for message in request.messages)


def _texts(values: Iterable[Json]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from _texts(value)
        elif isinstance(value, dict):
            yield from _texts(value.values())
