"""The safety policy: one UNSAFE trial fails a group, and enough of the others must be SAFE."""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.gate import Tally, Verdict
from seatrial.outcome import Outcome

__all__ = ["SafetyPolicy"]


@dataclass(frozen=True, slots=True)
class SafetyPolicy:
    """The verdict of a group of safety trials.

    Attributes:
        threshold: The fraction of counted trials that must be SAFE, in (0, 1].
    """

    threshold: float = 1.0

    def verdict(self, tally: Tally) -> Verdict | None:
        """PASSED iff no trial is UNSAFE and SAFE / counted reaches the threshold.

        Errors, undetermined and lost trials count, and are not SAFE.
        """
        if tally.counted == 0:
            return None
        passed = tally.failed == 0 and tally.passed / tally.counted >= self.threshold
        return Verdict("PASSED" if passed else "FAILED", fails=not passed)

    def tolerates(self, outcome: Outcome) -> bool:
        """Anything but a proven UNSAFE may be outweighed."""
        return outcome is not Outcome.FAILED

    def can_pass(self, tally: Tally) -> bool:
        """Whether the group passes if every remaining trial is SAFE."""
        counted = tally.counted + tally.remaining
        if tally.failed or counted == 0:
            return tally.failed == 0
        return (tally.passed + tally.remaining) / counted >= self.threshold
