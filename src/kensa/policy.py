"""The evals policy: what the trials of one case amount to."""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.gate import Tally, Verdict
from seatrial.outcome import Outcome

__all__ = ["EvalPolicy"]


@dataclass(frozen=True, slots=True)
class EvalPolicy:
    """The verdict of a group of eval trials."""

    def verdict(self, tally: Tally) -> Verdict | None:
        """error, flaky, fail, inconclusive, partial or pass; the first that applies.

        `partial` means that fewer trials ran than the test asks for; skipped ones are not missed.
        None if no trial ran.
        """
        ran = tally.counted - tally.lost
        if ran == 0:
            return None
        if tally.error:
            return Verdict("error", fails=True)
        if tally.failed:
            return Verdict("flaky" if tally.passed else "fail", fails=True)
        if tally.inconclusive:
            return Verdict("inconclusive", fails=False)
        if ran < tally.configured - tally.skipped:
            return Verdict("partial", fails=False)
        return Verdict("pass", fails=False)

    def tolerates(self, outcome: Outcome) -> bool:
        """A trial that nobody judged fails nothing; failed and errored ones always do."""
        return outcome not in (Outcome.FAILED, Outcome.ERROR)

    def can_pass(self, tally: Tally) -> bool:
        """Whether nothing has failed so far."""
        return tally.failed == 0 and tally.error == 0
