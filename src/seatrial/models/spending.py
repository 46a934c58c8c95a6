"""What questions cost, noted with the trial that asked them."""

from __future__ import annotations

from seatrial.models.answer import Usage
from seatrial.models.choice import ModelChoice
from seatrial.scope import current_scope
from seatrial.snapshot import JsonObject

__all__ = ["CallNote", "note_call"]


class CallNote:
    """One question in the record of the trial that asks it; of no effect outside of any.

    It is there from the start: a trial that is cut short meanwhile has asked it all the same, and
    what the provider will charge for it is then unknown.
    """

    def __init__(self, choice: ModelChoice, purpose: str) -> None:
        """Note that `choice` is asked now."""
        self._call: JsonObject = {
            "purpose": purpose,
            "provider": choice.provider,
            "model": choice.model,
            "input_tokens": 0,
            "output_tokens": 0,
            "cost_usd": None,
            "attempts": 1,
            "duration_s": 0.0,
            "failed": "cut short",
        }
        scope = current_scope()
        if scope is not None:
            scope.model_calls.append(self._call)

    def end(
        self, usage: Usage, attempts: int, duration_s: float, *, failed: str | None = None
    ) -> None:
        """Note what came of it.

        Args:
            usage: What it took.
            attempts: Requests that were sent; 0 for a stored answer.
            duration_s: Seconds, waiting included.
            failed: The kind of failure, if there was no answer.
        """
        self._call.update(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=usage.cost_usd,
            attempts=attempts,
            duration_s=round(duration_s, 6),
            failed=failed,
        )


def note_call(
    choice: ModelChoice,
    purpose: str,
    usage: Usage,
    attempts: int,
    duration_s: float,
    *,
    failed: str | None = None,
) -> None:
    """Note a question that is over; arguments as for `CallNote`."""
    CallNote(choice, purpose).end(usage, attempts, duration_s, failed=failed)
