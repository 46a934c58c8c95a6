"""Warnings of items in flight: each is reported for the item whose code gave it.

Filters are the process's. Items that are in flight together have the same `filterwarnings` marks, so
the filters are set once for all; "show each place once" is then counted per item, here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from _pytest.warnings import catch_warnings_for_item

from seatrial.plugin.concurrency.patches import replaced
from seatrial.plugin.concurrency.slot import Slot, slot_of_context

__all__ = ["report_warnings", "route_warnings"]


@contextmanager
def route_warnings(item: pytest.Item) -> Iterator[None]:
    """Apply the filters of an item, and route what passes them, while the body runs."""
    if not item.config.pluginmanager.hasplugin("warnings"):
        yield
        return
    with catch_warnings_for_item(config=item.config, ihook=item.ihook, when="runtest", item=item):
        repeating = _let_all_pass()
        kept: Any = vars(warnings)["_showwarnmsg_impl"]

        def show(message: warnings.WarningMessage) -> None:
            slot = slot_of_context()
            if slot is None:
                kept(message)
            elif repeating(message) or not _is_known(slot, message):
                slot.warnings.append(message)

        with (
            replaced(warnings, "_showwarnmsg_impl", show),
            replaced(warnings, "defaultaction", "always"),
        ):
            yield


def report_warnings(slot: Slot) -> None:
    """Report what an item was warned of, as pytest does when its protocol ends."""
    for message in slot.warnings:
        slot.item.ihook.pytest_warning_recorded.call_historic(
            kwargs={
                "warning_message": message,
                "nodeid": slot.item.nodeid,
                "when": "runtest",
                "location": None,
            }
        )
    slot.warnings.clear()


def _let_all_pass() -> Any:
    """Turn "once per place" filters into "always"; the caller drops repetitions itself."""
    before: list[Any] = list(warnings.filters)
    default = warnings.defaultaction  # type: ignore[attr-defined]

    def repeating(message: warnings.WarningMessage) -> bool:
        text = str(message.message)
        for action, pattern, category, module, _ in before:
            matches = pattern is None or pattern.match(text)
            if module is None and matches and issubclass(message.category, category):
                return action in ("always", "all")
        return default in ("always", "all")

    warnings.filters[:] = [  # type: ignore[index]
        ("always", *rest) if action == "default" else (action, *rest) for action, *rest in before
    ]
    # Tells Python's cache of seen warnings that the filters have changed.
    warnings.filterwarnings("always", message="(?!)")
    return repeating


def _is_known(slot: Slot, message: warnings.WarningMessage) -> bool:
    return any(
        known.category is message.category
        and known.lineno == message.lineno
        and known.filename == message.filename
        and str(known.message) == str(message.message)
        for known in slot.warnings
    )
