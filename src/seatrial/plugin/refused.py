"""The end of a trial that did what cannot be done while other trials are in flight."""

from __future__ import annotations

from _pytest.outcomes import Failed

__all__ = ["TrialRefused"]


class TrialRefused(Failed):
    """Ends a trial for how it is written: an error of the harness, never a fail of the agent."""

    # pytest shows its own exception without a module.
    __module__ = Failed.__module__
    __qualname__ = Failed.__qualname__
