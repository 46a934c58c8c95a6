"""Replacing attributes for as long as items are in flight together, and putting them back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["replaced"]

_MISSING = object()


@contextmanager
def replaced(owner: object, name: str, value: object) -> Iterator[None]:
    """Set an attribute of a module, a class or an object while the body runs."""
    own = vars(owner).get(name, _MISSING)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, own)
