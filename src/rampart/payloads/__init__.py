"""Payloads: what an attacker might write, by the dozen."""

from __future__ import annotations

from rampart.payloads.generation import Payloads
from rampart.payloads.template import PayloadTemplate

__all__ = ["PayloadTemplate", "Payloads"]
