"""A question that got no answer, on its way from the provider to the caller."""

from __future__ import annotations

from seatrial.errors import MissingExtraError, ModelError
from seatrial.models.answer import Usage

__all__ = ["FailedAttempt"]


class FailedAttempt(Exception):  # noqa: N818 - never leaves this package
    """What came of asking, when it was no answer.

    Attributes:
        error: What the caller gets if nothing better comes.
        usage: What the requests took all the same.
        attempts: Requests that were sent.
        retry_after_s: When the provider wants to be asked again.
    """

    def __init__(
        self,
        error: ModelError | MissingExtraError,
        *,
        usage: Usage | None = None,
        attempts: int = 1,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.usage = usage or Usage()
        self.attempts = attempts
        self.retry_after_s = retry_after_s

    @property
    def kind(self) -> str | None:
        """The kind of a provider's failure; None for what asking again cannot change."""
        return getattr(self.error, "kind", None)

    @property
    def status(self) -> int | None:
        """The HTTP status, where one came."""
        return getattr(self.error, "status", None)
