"""Every error that Seatrial raises on purpose.

SeatrialError
├── UsageError            a marker, option or setting has a wrong value
├── RecordError           a record's parts contradict each other
├── CodecError            a stored record cannot be read by this version
├── NotJsonError          a value that must be JSON is not
├── TrialTimeoutError     a trial took longer than its time limit
├── MissingExtraError     an optional dependency is not installed; names the pip command
├── ModelServerError      a test's model server was asked what it was not told to answer
└── ModelError            a language model could not answer
    ├── ModelConfigurationError   nothing, or something contradictory, says which model to ask
    └── ModelProviderError        the provider refused, failed, or answered what cannot be used
"""

from __future__ import annotations

__all__ = [
    "CodecError",
    "MissingExtraError",
    "ModelConfigurationError",
    "ModelError",
    "ModelProviderError",
    "ModelServerError",
    "NotJsonError",
    "RecordError",
    "SeatrialError",
    "TrialTimeoutError",
    "UsageError",
]


class SeatrialError(Exception):
    """Base of all errors here, so that one `except` can tell ours from a program's own."""


class UsageError(SeatrialError):
    """A marker, an option or a setting has a value that means nothing."""


class RecordError(SeatrialError, ValueError):
    """The parts of a record contradict each other."""


class CodecError(SeatrialError, ValueError):
    """A stored record is damaged, or was written by a version that this one cannot read."""


class NotJsonError(SeatrialError, TypeError):
    """A value that must be plain JSON is not; the message says where in it."""


class TrialTimeoutError(SeatrialError):
    """The body of a trial took longer than its time limit."""


class MissingExtraError(SeatrialError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, extra: str, needed_for: str) -> None:
        super().__init__(f"{needed_for} needs an extra: pip install 'seatrial[{extra}]'")
        self.extra = extra


class ModelServerError(SeatrialError):
    """The model server of `seatrial.testing` was asked what it was not told to answer."""


class ModelError(SeatrialError):
    """A language model could not answer."""


class ModelConfigurationError(ModelError):
    """Nothing says which model to ask, or what says so is contradictory."""


class ModelProviderError(ModelError):
    """The provider refused, failed, or answered what cannot be used.

    Attributes:
        kind: "timeout", "throttled" (the provider's rate limit), "connection", "status" (any other
            HTTP status), "refused", "empty" or "unusable" (an answer in the wrong form).
        status: The HTTP status, where one came.
    """

    def __init__(self, message: str, *, kind: str = "status", status: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
