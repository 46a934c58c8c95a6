"""The command line: one tree of commands, to which the faces add theirs."""

from __future__ import annotations

from seatrial.cli.tree import main

__all__ = ["main"]
