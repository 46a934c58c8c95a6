"""The version of the distribution: the build reads it here, and so does whoever tells it."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "0.1.0"
