"""Panels: several votes on one question, and the rule that makes one answer of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from seatrial.errors import ModelConfigurationError
from seatrial.models.choice import ModelChoice

__all__ = ["Panel", "Rule", "Seat"]

Rule = Literal["majority", "unanimous", "any"]
_MOST_SEATS = 101


@dataclass(frozen=True, slots=True)
class Seat:
    """One vote of a panel.

    Attributes:
        model: Who is asked; None for the model that the environment names.
        sample: Which of this model's votes it is, from 1.
    """

    model: str | ModelChoice | None
    sample: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Who votes, and what their votes amount to.

    Attributes:
        models: Models as `seatrial.models` names them, such as "openai:gpt-5.4-mini"; none for the
            one that the environment names.
        samples: How often each is asked.
        rule: "majority": more than half of all seats say so. "unanimous": yes if all say yes, no if
            one says no. "any": yes if one says yes, no if all say no.

    Raises:
        ModelConfigurationError: If the rule is none of these, or there would be no seat, or more
            than 101.
    """

    models: tuple[str | ModelChoice, ...] = ()
    samples: int = 1
    rule: Rule = "majority"

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", tuple(self.models))
        if self.rule not in get_args(Rule):
            known = ", ".join(get_args(Rule))
            raise ModelConfigurationError(f"rule={self.rule!r} of a panel: expected one of {known}")
        is_number = isinstance(self.samples, int) and not isinstance(self.samples, bool)
        if not is_number or not 1 <= self.samples * max(1, len(self.models)) <= _MOST_SEATS:
            raise ModelConfigurationError(
                f"samples={self.samples!r} of a panel: expected a whole number above 0 that makes no "
                f"more than {_MOST_SEATS} votes of all models together"
            )

    @property
    def seats(self) -> tuple[Seat, ...]:
        """Everyone who votes."""
        return tuple(
            Seat(model, sample)
            for model in (self.models or (None,))
            for sample in range(1, self.samples + 1)
        )

    def decide(self, votes: Sequence[bool | None]) -> bool | None:
        """What the votes amount to; None, for who could not tell, is neither yes nor no."""
        yes, no = votes.count(True), votes.count(False)
        if self.rule == "majority":
            return True if yes > len(votes) / 2 else False if no > len(votes) / 2 else None
        if self.rule == "unanimous":
            return False if no else True if yes == len(votes) else None
        return True if yes else False if no == len(votes) else None
