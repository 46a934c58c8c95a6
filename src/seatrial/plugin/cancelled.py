"""The end of a trial that was stopped from outside: pytest sees a skip, the record says why."""

from __future__ import annotations

from _pytest.outcomes import Skipped

__all__ = ["TrialCancelled"]


class TrialCancelled(Skipped):
    """Ends a trial's set-up or body because the session stops."""

    # pytest cuts the name of its own exception off the reason that it shows.
    __module__ = Skipped.__module__
    __qualname__ = Skipped.__qualname__

    def __init__(self, reason: str) -> None:
        """Cancel because of `reason`, such as "stopping after 1 failures"."""
        super().__init__("cancelled", _use_item_location=True)
        self.reason = reason
