"""Converters: the same payload in another form."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from rampart.core.types import Payload

__all__ = ["PayloadConverter"]


@runtime_checkable
class PayloadConverter(Protocol):
    """Rewrites a payload's text, or renders it as a file."""

    async def convert_async(self, *, payload: Payload) -> Payload:
        """A new payload with the same `id` and at least the same metadata.

        Text converters change `content`; renderers keep it and set `format` and `artifact`.
        """
        ...
