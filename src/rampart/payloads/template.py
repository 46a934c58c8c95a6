"""Templates: the order from which a model writes payloads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Self

__all__ = ["PayloadTemplate"]

_PLACEHOLDER = re.compile(r"\{(\{?)([^\W\d]\w*)\}(\}?)")


@dataclass(frozen=True, kw_only=True)
class PayloadTemplate:
    """What payloads are to look like, and what they are for.

    Attributes:
        objective: What the payload is to make the agent do.
        instruction: How it is to be written. `{name}` stands for the variable of that name and
            `{{name}}` for the text "{name}"; any other brace is a brace, so JSON may stand there.
        variables: By name; those that `instruction` does not mention count for nothing.
    """

    name: str
    description: str
    objective: str
    instruction: str
    variables: dict[str, str] = field(default_factory=dict)

    def with_variables(self, **overrides: str) -> Self:
        """A copy in which these variables have these values, and the others their own."""
        return replace(self, variables={**self.variables, **overrides})

    def resolve(self) -> str:
        """The instruction with its variables in place; their values are taken as they are.

        Raises:
            KeyError: If one that it mentions has no value.
        """

        def value(found: re.Match[str]) -> str:
            opening, name, closing = found.groups()
            if opening and closing:
                return found[0][1:-1]
            if name not in self.variables:
                raise KeyError(
                    f"template {self.name!r}: no variable {name!r}; there are "
                    f"{', '.join(self.variables) or 'none'}"
                )
            return f"{opening}{self.variables[name]}{closing}"

        return _PLACEHOLDER.sub(value, self.instruction)
