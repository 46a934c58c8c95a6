"""What all converters of text have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

from rampart.converters.chain import ChainableConverter, named_metadata
from rampart.core.types import Payload

__all__ = ["ReversibleTextConverter", "TextConverter", "text_of"]


class TextConverter(ChainableConverter, ABC):
    """Changes a payload's `content` by a rule; for one of your own, write `convert`."""

    @abstractmethod
    def convert(self, text: str) -> str:
        """The text in its new form.

        Raises:
            ValueError: If the rule has no form for something in it; names the character.
        """

    async def convert_async(self, *, payload: Payload) -> Payload:
        """A payload with its content converted, and everything else but `converter` as it was.

        Raises:
            ValueError: If the payload is a file, or as for `convert`.
        """
        content = self.convert(text_of(payload, self))
        return replace(payload, content=content, metadata=named_metadata(payload, self))


class ReversibleTextConverter(TextConverter):
    """A converter of text whose rule can be undone."""

    reversible: ClassVar[bool] = True

    @abstractmethod
    def revert(self, text: str) -> str:
        """The text that `convert` made `text` from.

        Raises:
            ValueError: If it cannot have been made by `convert`.
        """


def text_of(payload: Payload, converter: object) -> str:
    """The content of a text payload.

    Raises:
        ValueError: If the payload is a file, of which the content is a description only.
    """
    if payload.format.is_binary:
        raise ValueError(
            f"{type(converter).__name__} converts a text payload (format text, html or markdown); "
            f"payload {payload.id!r} is of format {payload.format.value!r}"
        )
    return payload.content
