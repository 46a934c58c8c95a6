"""The options of what a session may ask of models, and spend on it."""

from __future__ import annotations

import math

import pytest

__all__ = ["add_model_options", "max_cost_usd", "may_use_cache"]

_EXPECTED = "a positive finite amount of USD, such as 2.50"


def add_model_options(parser: pytest.Parser) -> None:
    """Add the options to pytest's command line and configuration."""
    group = parser.getgroup("seatrial", "trials of agents")
    meaning = "USD that the run's trials may cost, as far as prices are known; then it stops."
    group.addoption("--seatrial-max-cost-usd", metavar="USD", help=f"{meaning} (default: any)")
    parser.addini(
        "seatrial_max_cost_usd", f"{meaning} --seatrial-max-cost-usd beats it.", default=None
    )
    group.addoption(
        "--seatrial-no-cache",
        action="store_true",
        help="Ask judges anew, although they answered the same question before.",
    )


def max_cost_usd(config: pytest.Config) -> float | None:
    """The most that the session may cost; None for any amount.

    Raises:
        pytest.UsageError: If a value means nothing.
    """
    where, text = "--seatrial-max-cost-usd", config.getoption("seatrial_max_cost_usd")
    if text is None:
        where = "seatrial_max_cost_usd"
        text = config.getini(where)
    if text is None:
        return None
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not (amount > 0 and math.isfinite(amount)):
        raise pytest.UsageError(f"{where}={text!r}, expected {_EXPECTED}")
    return amount


def may_use_cache(config: pytest.Config) -> bool:
    """Whether a stored answer will do where the same was asked before."""
    return not config.getoption("seatrial_no_cache")
