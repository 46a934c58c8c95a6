"""What the model may do next, as a JSON schema, and whether what it chose is among it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Offer", "chosen", "schema_of"]

_BODY_CHARACTERS = (20, 60)


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool that may be called now.

    Attributes:
        choices: Its arguments, each with the values it may have.
        text: Its arguments that are free text.
    """

    tool: str
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    text: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """The JSON schema of a call."""
        low, high = _BODY_CHARACTERS
        properties: dict[str, Any] = {"tool": {"const": self.tool}}
        for name, values in self.choices.items():
            properties[name] = {"enum": list(values)}
        for name in self.text:
            properties[name] = {"type": "string", "minLength": low, "maxLength": high}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    @property
    def only_call(self) -> dict[str, str] | None:
        """The one call that this offer allows; None if it leaves a choice."""
        if self.text or any(len(values) > 1 for values in self.choices.values()):
            return None
        return {"tool": self.tool, **{name: value for name, (value,) in self.choices.items()}}

    def accepts(self, call: dict[str, Any]) -> bool:
        """Whether `call` is one of those offered; an endpoint may not keep to the schema."""
        return (
            call.get("tool") == self.tool
            and set(call) == {"tool", *self.choices, *self.text}
            and all(call[name] in values for name, values in self.choices.items())
            and all(isinstance(call[name], str) for name in self.text)
        )


def schema_of(offers: Iterable[Offer]) -> dict[str, Any]:
    """The JSON schema of a call to any of `offers`."""
    return {"anyOf": [offer.schema() for offer in offers]}


def chosen(answer: object, offers: Iterable[Offer]) -> dict[str, str]:
    """The call that the model answered with.

    Raises:
        ValueError: If it is none of those offered.
    """
    if isinstance(answer, dict) and any(offer.accepts(answer) for offer in offers):
        return answer
    raise ValueError(f"the model answered with a call that was not offered: {answer!r}")
