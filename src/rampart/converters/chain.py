"""Converters one after another."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from rampart.core.converter import PayloadConverter
from rampart.core.types import Payload

__all__ = ["Chain", "ChainableConverter", "named_metadata"]


class ChainableConverter:
    """A converter that `|` joins with another: the left one is applied first."""

    reversible: ClassVar[bool] = False
    """Whether a `revert` gives back the text that was converted, to the character."""

    async def convert_async(self, *, payload: Payload) -> Payload:
        """The payload in another form, with the same `id`."""
        raise NotImplementedError

    def __or__(self, other: PayloadConverter) -> Chain:
        return Chain(self, other)

    def __ror__(self, other: PayloadConverter) -> Chain:
        return Chain(other, self)


@runtime_checkable
class _Reversible(Protocol):
    def revert(self, text: str) -> str: ...


class Chain:
    """Applies converters from left to right; `Chain(a, b)` and `a | b` are the same.

    Raises:
        TypeError: If there is none, or one has no `convert_async`.
    """

    def __init__(self, *converters: PayloadConverter) -> None:
        if not converters:
            raise TypeError("Chain needs at least one converter")
        for place, converter in enumerate(converters):
            if isinstance(converter, type) or not isinstance(converter, PayloadConverter):
                raise TypeError(
                    f"converter {place} of a Chain must have convert_async, as an instance of a "
                    f"converter has, not {converter!r}"
                )
        self.converters = tuple(_flat(converters))

    @property
    def reversible(self) -> bool:
        """Whether each of its converters is."""
        return all(isinstance(converter, _Reversible) for converter in self.converters)

    async def convert_async(self, *, payload: Payload) -> Payload:
        """The payload after the last converter; errors are those of the converters."""
        for converter in self.converters:
            payload = await converter.convert_async(payload=payload)
        return payload

    def revert(self, text: str) -> str:
        """The text that the whole chain made `text` from.

        Raises:
            TypeError: If one of the converters is not reversible.
            ValueError: If the chain cannot have made it.
        """
        for converter in reversed(self.converters):
            if not isinstance(converter, _Reversible):
                raise TypeError(
                    f"{type(converter).__name__} is not reversible, so no chain with it"
                )
            text = converter.revert(text)
        return text

    def __or__(self, other: PayloadConverter) -> Chain:
        return Chain(self, other)

    def __ror__(self, other: PayloadConverter) -> Chain:
        return Chain(other, self)

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.converters))})"


def named_metadata(payload: Payload, converter: object) -> dict[str, object]:
    """The payload's metadata with the converter's name as `converter`.

    After the names of those that converted it before, as in "Base64Converter | DocxConverter".
    """
    name = type(converter).__name__
    before = payload.metadata.get("converter")
    return {**payload.metadata, "converter": f"{before} | {name}" if before else name}


def _flat(converters: tuple[PayloadConverter, ...]) -> list[PayloadConverter]:
    flat: list[PayloadConverter] = []
    for converter in converters:
        flat.extend(converter.converters if isinstance(converter, Chain) else [converter])
    return flat
