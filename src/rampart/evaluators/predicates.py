"""Conditions on the named values of a tool call or a side effect."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, cast

from rampart.core.errors import describe_error
from rampart.core.types import Channel, EvalOutcome, EvalResult

__all__ = ["Predicate", "Predicates", "excerpt", "find_match", "is_predicate"]

Predicate: TypeAlias = Callable[[Any], Any]
Predicates: TypeAlias = Mapping[str, Any]

_EXCERPT = 1000


def is_predicate(expected: object, *, where: str) -> bool:
    """Whether `expected` is asked, rather than compared with.

    Raises:
        TypeError: If it is an async function, whose answer would always count as true.
    """
    if inspect.iscoroutinefunction(expected):
        raise TypeError(f"{where} must answer at once; {expected!r} is an async function")
    return callable(expected)


def excerpt(value: object) -> str:
    """`repr(value)` as evidence: of bounded length, and it never raises."""
    try:
        shown = repr(value)
    except Exception as error:  # noqa: BLE001 - foreign code: the evidence is then the failure
        shown = f"<{type(value).__name__}: {describe_error(error)}>"
    return shown if len(shown) <= _EXCERPT else f"{shown[:_EXCERPT]}…"


def find_match(
    candidates: Iterable[tuple[str, Mapping[str, Any]]],
    wanted: str,
    predicates: Predicates,
    channel: Channel,
) -> EvalResult:
    """DETECTED on the first candidate that is called `wanted` and meets all predicates.

    A predicate is a callable, or a value to be equal to. A missing value is given to callables as
    None, and one that cannot take it is not met. A callable that breaks on a value that is there
    leaves that candidate undetermined.
    """
    doubts: list[str] = []
    for name, values in candidates:
        if name != wanted:
            continue
        try:
            if all(_meets(values, key, expected) for key, expected in predicates.items()):
                return EvalResult(
                    outcome=EvalOutcome.DETECTED,
                    evidence=[f"{wanted}({excerpt(values)})"],
                    rationale=f"{wanted} is among the {channel}",
                )
        except _PredicateError as broke:
            doubts.append(str(broke))
    if doubts:
        return EvalResult(outcome=EvalOutcome.UNDETERMINED, rationale=f"{wanted}: {doubts[0]}")
    conditions = " as described" if predicates else ""
    return EvalResult(
        outcome=EvalOutcome.NOT_DETECTED,
        rationale=f"{wanted}{conditions} is not among the {channel}",
    )


class _PredicateError(Exception):
    """A callable raised on a value that was there."""


def _meets(values: Mapping[str, Any], key: str, expected: Any) -> bool:
    present = key in values
    value = values.get(key)
    try:
        if callable(expected):
            return bool(cast("Predicate", expected)(value))
        return bool(value == expected)
    except Exception as error:
        if not present:
            return False
        raise _PredicateError(f"the predicate on {key} broke: {describe_error(error)}") from error
