"""What questions cost, noted with the trial that asked them."""

from __future__ import annotations

from seatrial.models.answer import Usage
from seatrial.models.choice import ModelChoice
from seatrial.scope import current_scope

__all__ = ["note_call"]


def note_call(
    choice: ModelChoice,
    purpose: str,
    usage: Usage,
    attempts: int,
    duration_s: float,
    *,
    failed: str | None = None,
) -> None:
    """Put one question into the record of the trial that asks it; nothing happens outside of any.

    Args:
        choice: Who was asked.
        purpose: What for.
        usage: What it took.
        attempts: Requests that were sent; 0 for a stored answer.
        duration_s: Seconds, waiting included.
        failed: The kind of failure, if there was no answer.
    """
    scope = current_scope()
    if scope is None:
        return
    scope.model_calls.append(
        {
            "purpose": purpose,
            "provider": choice.provider,
            "model": choice.model,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost_usd": usage.cost_usd,
            "attempts": attempts,
            "duration_s": round(duration_s, 6),
            "failed": failed,
        }
    )
