"""Drivers: who decides what the agent is told next."""

from __future__ import annotations

from rampart.drivers.llm import LLMDriver
from rampart.drivers.static import StaticDriver

__all__ = ["LLMDriver", "StaticDriver"]
