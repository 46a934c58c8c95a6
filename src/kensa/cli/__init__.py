"""The command line of the evals face."""

from __future__ import annotations

from kensa.cli.tree import main

__all__ = ["main"]
