"""The options of how trials run: how many at once, for how long, how many per second."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import pytest

__all__ = ["TrialOptions", "add_trial_options", "trial_options"]

_AUTO = 32
"""Trials in flight that `auto` means, in all processes together."""

_SECONDS = {"s": 1, "m": 60, "h": 3600}
_WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")

_CONCURRENCY = "a whole number of at least 1, or auto"
_TIMEOUT = "a positive finite number of seconds, such as 60"
_RATE = "a positive finite number of trials per second, minute or hour, such as 5/s or 100/m"


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """How trials run where their marker does not say otherwise.

    Attributes:
        concurrency: How many trials may be in flight in this process, at least 1.
        timeout_s: How long the body of a trial may take, in seconds; None for as long as it likes.
        rate_per_s: How many trials may start per second in this process, an equal part of what all
            processes may start together; None for any number.
    """

    concurrency: int
    timeout_s: float | None
    rate_per_s: float | None


_options_key = pytest.StashKey[TrialOptions]()


def add_trial_options(parser: pytest.Parser) -> None:
    """Add the options to pytest's command line and configuration."""
    group = parser.getgroup("seatrial", "trials of agents")
    for name, metavar, meaning in (
        ("concurrency", "K", "Trials in flight at once: a whole number, or auto (default: 1)."),
        ("timeout", "SECONDS", "Time limit of each trial's body (default: none)."),
        ("rate", "N/s", "Trials that may start per second, /m minute or /h hour (default: any)."),
    ):
        group.addoption(f"--trial-{name}", metavar=metavar, help=meaning)
        parser.addini(f"trial_{name}", f"{meaning} --trial-{name} beats it.", default=None)
    parser.addini(
        "trial_process_wide_fixtures",
        "Fixtures of yours that change the process: trials that use one run alone.",
        type="args",
        default=[],
    )


def trial_options(config: pytest.Config) -> TrialOptions:
    """The session's options, read once.

    Raises:
        pytest.UsageError: If a value means nothing; names the option, or the key in the
            configuration file, the value and what is expected.
    """
    options = config.stash.get(_options_key, None)
    if options is None:
        options = config.stash[_options_key] = TrialOptions(
            concurrency=_concurrency(config), timeout_s=_timeout_s(config), rate_per_s=_rate(config)
        )
    return options


def _concurrency(config: pytest.Config) -> int:
    where, text = _given(config, "concurrency")
    if text is None:
        return 1
    if text == "auto":
        return max(1, _AUTO // _worker_count(config))
    if not _WHOLE_NUMBER.fullmatch(text) or int(text) < 1:
        raise _wrong(where, text, _CONCURRENCY)
    return int(text)


def _timeout_s(config: pytest.Config) -> float | None:
    where, text = _given(config, "timeout")
    if text is None:
        return None
    seconds = _positive(text)
    if seconds is None:
        raise _wrong(where, text, _TIMEOUT)
    return seconds


def _rate(config: pytest.Config) -> float | None:
    where, text = _given(config, "rate")
    if text is None:
        return None
    number, slash, unit = text.partition("/")
    count = _positive(number)
    if count is None or (slash and unit not in _SECONDS):
        raise _wrong(where, text, _RATE)
    rate = count / _SECONDS[unit or "s"] / _worker_count(config)
    if rate == 0.0:  # less than any float above zero
        raise _wrong(where, text, _RATE)
    return rate


def _given(config: pytest.Config, name: str) -> tuple[str, str | None]:
    """Where the value stands, and its text; None if nobody gave one."""
    option = config.getoption(f"trial_{name}")
    if option is not None:
        return f"--trial-{name}", option
    key = f"trial_{name}"
    try:
        value = config.getini(key)
    except TypeError as error:  # pytest before 9.2 lets a TOML value of another type escape
        raise pytest.UsageError(str(error)) from error
    return key, value


def _positive(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number > 0 and math.isfinite(number) else None


def _worker_count(config: pytest.Config) -> int:
    worker = getattr(config, "workerinput", None)  # set by xdist, in its workers
    return 1 if worker is None else int(worker["workercount"])


def _wrong(where: str, text: str, expected: str) -> pytest.UsageError:
    return pytest.UsageError(f"{where}={text!r}, expected {expected}")
