"""Arguments that mean nothing are refused, by name."""

from __future__ import annotations

__all__ = ["positive", "words"]


def positive(name: str, value: int) -> int:
    """`value`, if it is a whole number of at least 1.

    Raises:
        ValueError: If it is less.
        TypeError: If it is no whole number.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number >= 1, not {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be >= 1, not {value}")
    return value


def words(name: str, value: str) -> str:
    """`value`, if it is text that says something.

    Raises:
        TypeError: If it is no text.
        ValueError: If it is blank.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {value!r:.200}")
    if not value.strip():
        raise ValueError(f"{name} is empty: there is nothing to ask for")
    return value
