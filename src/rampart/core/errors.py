"""What rampart raises on purpose, and how any exception reads in a result.

SeatrialError
├── InfrastructureError   something beside the agent is down: a surface, a service, the network
│   └── EvaluatorError    an evaluator is misconfigured, or answered what means nothing
└── DriverError           a driver cannot decide on the next prompt
"""

from __future__ import annotations

from seatrial.errors import SeatrialError

__all__ = [
    "DriverError",
    "EvaluatorError",
    "InfrastructureError",
    "describe_error",
    "error_message",
]


class InfrastructureError(SeatrialError):
    """Something beside the agent broke; raised by surfaces and adapters."""


class DriverError(SeatrialError):
    """A driver cannot decide on the next prompt."""


class EvaluatorError(InfrastructureError):
    """An evaluator is misconfigured, or answered what means nothing."""


def error_message(error: BaseException) -> str:
    """What an exception says of itself; never raises."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - foreign code: a broken __str__ must not hide the error itself
        return "<its message cannot be read>"


def describe_error(error: BaseException) -> str:
    """`Type: message`, or the type alone if there is no message."""
    message = error_message(error)
    name = type(error).__name__
    return f"{name}: {message}" if message else name
