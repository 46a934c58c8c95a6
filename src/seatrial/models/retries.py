"""Asking until there is an answer: which failures are worth another attempt, and when."""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
from dataclasses import replace
from pathlib import Path

from seatrial.errors import (
    MissingExtraError,
    ModelConfigurationError,
    ModelError,
    ModelProviderError,
)
from seatrial.models.answer import Question, Reply, Usage
from seatrial.models.choice import ModelChoice
from seatrial.models.connection import address_of
from seatrial.models.endpoint_budget import EndpointBudget
from seatrial.models.failure import FailedAttempt
from seatrial.models.remote import attempt

__all__ = ["LONGEST_WAIT_S", "MOST_ATTEMPTS", "ask_until_answered"]

MOST_ATTEMPTS = 6
"""Requests for one question, while the provider is overloaded or out of reach; the variable
`SEATRIAL_MODEL_ATTEMPTS` sets another number."""

MOST_MISFORMED = 3
"""Answers in a wrong form that one question takes."""

LONGEST_WAIT_S = 120.0
"""A provider that wants to be left alone for longer has failed."""

_RATE = "SEATRIAL_MODEL_RATE"
_FIRST_DELAY_S = 0.5
_LONGEST_DELAY_S = 30.0
_RETRIED_STATUS = (408, 409, 429)
_OVERLOADED = (429, 503, 529)
_MISFORMED = ("empty", "unusable")


async def ask_until_answered(question: Question, choice: ModelChoice) -> Reply:
    """The first usable answer. To be called on the background loop.

    Asked again are 408, 409, 429, 5xx and lost connections, up to `MOST_ATTEMPTS` times, after what
    `Retry-After` says or a random time that grows; and answers in a wrong form, up to
    `MOST_MISFORMED` times. Not asked again: a timeout, a refusal, any other status.

    Raises:
        FailedAttempt: The last one; its usage is that of all.
    """
    budget = _budget(choice)
    most = _whole_number("SEATRIAL_MODEL_ATTEMPTS", MOST_ATTEMPTS, 100)
    usage, attempts, misformed = Usage(), 0, 0
    while True:
        attempts += 1
        try:
            async with budget.turn() as turn:
                try:
                    content, used = await attempt(question, choice)
                except FailedAttempt as failed:
                    if failed.status in _OVERLOADED:
                        turn.throttled(failed.retry_after_s)
                    raise  # a lost connection is no sign that the endpoint has room for more
                return Reply(content=content, usage=usage + used, attempts=attempts)
        except FailedAttempt as failed:
            failure = failed
        usage += failure.usage
        if _dislikes_temperature(failure, question):
            question = replace(question, settings=replace(question.settings, temperature=None))
            continue
        misformed += failure.kind in _MISFORMED
        wait_s = 0.0 if failure.kind in _MISFORMED else _delay_s(attempts, failure.retry_after_s)
        if attempts >= most or not _is_worth_another(failure, misformed) or wait_s > LONGEST_WAIT_S:
            error = _with_attempts(failure, attempts)
            raise FailedAttempt(error, usage=usage, attempts=attempts) from None
        await asyncio.sleep(wait_s)


def _dislikes_temperature(failure: FailedAttempt, question: Question) -> bool:
    """Whether the model takes no temperature, as some that reason do, and that is all it minds."""
    is_set = question.settings.temperature is not None
    return is_set and failure.status == 400 and "temperature" in str(failure.error).lower()


def _is_worth_another(failure: FailedAttempt, misformed: int) -> bool:
    if failure.kind in _MISFORMED:
        return misformed < MOST_MISFORMED
    status = failure.status or 0
    return failure.kind == "connection" or status in _RETRIED_STATUS or status >= 500


def _delay_s(attempts: int, retry_after_s: float | None) -> float:
    """Seconds until the next attempt: what the provider says, else a random part of a growing time."""
    if retry_after_s is not None:
        return retry_after_s * random.uniform(1.0, 1.1)
    longest = min(_LONGEST_DELAY_S, _FIRST_DELAY_S * 2 ** (attempts - 1))
    return random.uniform(longest / 4, longest)


def _with_attempts(failure: FailedAttempt, attempts: int) -> ModelError | MissingExtraError:
    error = failure.error
    if not isinstance(error, ModelProviderError):
        return error
    words = [f"after {attempts} attempts"] if attempts > 1 else []
    if failure.retry_after_s is not None and failure.retry_after_s > LONGEST_WAIT_S:
        words.append(f"it asks for a wait of {failure.retry_after_s:.0f} s")
    suffix = f" ({'; '.join(words)})" if words else ""
    return ModelProviderError(f"{error}{suffix}", kind=error.kind, status=error.status)


def _budget(choice: ModelChoice) -> EndpointBudget:
    return EndpointBudget(
        _folder(),
        address_of(choice),
        most_at_once=_whole_number("SEATRIAL_MODEL_CONCURRENCY", 32, 1_000),
        rate_per_s=choice.rate_per_s or _rate_per_s(),
    )


def _folder() -> Path:
    """One for all sessions of the user, unless the cache was put elsewhere on purpose."""
    chosen = os.environ.get("SEATRIAL_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute() / "endpoints"
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"seatrial-endpoints-{user}"


def _whole_number(variable: str, default: int, most: int) -> int:
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise _wrong(variable, text, f"a whole number from 1 to {most}")
    return int(text)


def _rate_per_s() -> float | None:
    text = os.environ.get(_RATE, "").strip()
    if not text:
        return None
    number, _, unit = text.partition("/")
    try:
        rate = float(number) / {"s": 1, "m": 60}[unit or "s"]
    except (ValueError, KeyError):
        rate = 0.0
    if not 0 < rate <= 100_000:
        raise _wrong(_RATE, text, "requests per second or minute, such as 5/s or 60/m")
    return rate


def _wrong(variable: str, text: str, expected: str) -> FailedAttempt:
    return FailedAttempt(ModelConfigurationError(f"{variable}={text!r}: expected {expected}"))
