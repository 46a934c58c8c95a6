"""Hooks that the engine calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from seatrial.plugin.faces import Face
    from seatrial.run import Run

__all__ = ["pytest_rampart_sinks", "pytest_seatrial_face", "pytest_seatrial_run_finished"]


@pytest.hookspec
def pytest_seatrial_face(config: pytest.Config) -> Face:  # type: ignore[empty-body]
    """Return the face that a plugin adds: its marker, its policy, its words."""


@pytest.hookspec
def pytest_seatrial_run_finished(config: pytest.Config, run: Run) -> list[str]:  # type: ignore[empty-body]
    """Write what a face writes of a finished run; called once, in the controlling process.

    Returns:
        What went wrong, a sentence each; anything makes a session fail that would have passed.
    """


@pytest.hookspec
def pytest_rampart_sinks(config: pytest.Config) -> list[object]:  # type: ignore[empty-body]
    """Return the report sinks of a project; rampart emits to the union of all implementations.

    Args:
        config: The active configuration, for options and ini values.
    """
