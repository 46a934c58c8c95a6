"""Who a model is asked to be."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Persona"]


@dataclass(frozen=True, kw_only=True)
class Persona:
    """A character for a model that drives or judges a conversation."""

    name: str
    description: str = ""
    system_prompt: str = ""
