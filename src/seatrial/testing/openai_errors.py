"""Errors as OpenAI words them, in both of its interfaces."""

from __future__ import annotations

from seatrial.snapshot import JsonObject

__all__ = ["error"]

_KINDS = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("permission_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    409: ("conflict_error", None),
    429: ("requests", "rate_limit_exceeded"),
}


def error(status: int, message: str) -> JsonObject:
    """The body of an error response."""
    other = ("server_error" if status >= 500 else "invalid_request_error", None)
    kind, code = _KINDS.get(status, other)
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
