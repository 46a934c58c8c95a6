"""Settings of a request: how a model is to answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from seatrial.errors import ModelConfigurationError

__all__ = ["RequestSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSettings:
    """What is asked of the provider; None leaves it to the provider.

    Attributes:
        max_tokens: The most that the answer may have.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None

    @classmethod
    def of(cls, values: Mapping[str, object], where: str) -> RequestSettings:
        """The settings among `values`; what is no setting is refused, so that no typo is lost.

        Args:
            values: By name; `max_completion_tokens` is another name of `max_tokens`.
            where: Where they were written, for the error.

        Raises:
            ModelConfigurationError: If one is unknown, or no such number.
        """
        settings: dict[str, object] = {}
        for name, value in values.items():
            field = "max_tokens" if name == "max_completion_tokens" else name
            if field not in _RANGES:
                raise ModelConfigurationError(
                    f"{where}: there is no setting {name!r}; there are "
                    f"{', '.join((*_RANGES, 'max_completion_tokens'))}"
                )
            kind, low, high = _RANGES[field]
            if not _fits(value, kind, low, high):
                wanted = "a whole number" if kind is int else "a number"
                raise ModelConfigurationError(
                    f"{where}: {name}={value!r}: expected {wanted} from {low:g} to {high:g}"
                )
            settings[field] = value
        return cls(**settings)  # type: ignore[arg-type]

    def over(self, others: RequestSettings) -> RequestSettings:
        """These, and of the others what is not set here."""
        return RequestSettings(**{**others.given(), **self.given()})  # type: ignore[arg-type]

    def given(self) -> dict[str, float]:
        """Those that are set, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


_RANGES: dict[str, tuple[type, float, float]] = {
    "temperature": (float, 0, 2),
    "top_p": (float, 0, 1),
    "max_tokens": (int, 1, 10_000_000),
    "seed": (int, -(2**63), 2**63 - 1),
    "presence_penalty": (float, -2, 2),
    "frequency_penalty": (float, -2, 2),
}


def _fits(value: object, kind: type, low: float, high: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if kind is int else (int, float)):
        return False
    return math.isfinite(value) and low <= value <= high
