"""Looking a marker up at little cost where there is none: every test of a suite is asked."""

from __future__ import annotations

import pytest

__all__ = ["closest_marker"]


def closest_marker(item: pytest.Item, name: str) -> pytest.Mark | None:
    """What `item.get_closest_marker(name)` gives."""
    # Markers are keywords too, so an item without the keyword has no such marker.
    return item.get_closest_marker(name) if name in item.keywords else None
