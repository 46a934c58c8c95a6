"""What trials in flight together must not do, since it changes the process for all of them.

Known beforehand, from fixtures and marks, it makes a test run alone. Found only when it happens, it
fails the test that does it, with words on what to do instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import unittest.mock
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from _pytest.recwarn import WarningsRecorder

from seatrial.plugin.concurrency.hub import Hub
from seatrial.plugin.concurrency.patches import replaced
from seatrial.plugin.concurrency.slot import Slot, slot_of_context
from seatrial.plugin.refused import TrialRefused

__all__ = [
    "PROCESS_WIDE_FIXTURES",
    "refuse_dynamic_fixture",
    "refuse_open_filters",
    "refuse_patching",
]

PROCESS_WIDE_FIXTURES = frozenset(
    {
        "aioresponses",
        "capfd",
        "capfdbinary",
        "capsys",
        "capsysbinary",
        "capteesys",
        "class_mocker",
        "db",
        "django_db_reset_sequences",
        "django_db_serialized_rollback",
        "doctest_namespace",
        "freezer",
        "fs",
        "httpx_mock",
        "live_server",
        "mocker",
        "module_mocker",
        "monkeypatch",
        "package_mocker",
        "pytester",
        "recwarn",
        "requests_mock",
        "respx_mock",
        "responses",
        "session_mocker",
        "settings",
        "subtests",
        "testdir",
        "time_machine",
        "transactional_db",
        "vcr",
    }
)
"""Fixtures, of pytest and of plugins that many use, that change the process while a test runs."""

_INSTEAD = (
    "Use concurrency=1 on its marker, do it in a module- or session-scoped fixture, or run with"
    " --trial-concurrency=1"
)


def refuse_dynamic_fixture(slot: Slot, name: str) -> None:
    """Fail the test that asks for such a fixture while it runs.

    Raises:
        TrialRefused: If the fixture is one of them.
    """
    if name in PROCESS_WIDE_FIXTURES and not slot.shared_depth:
        raise TrialRefused(
            f"fixture {name!r} changes process-wide state and was requested dynamically while other"
            f" trials are running. Request it as an argument of the test, so that the test runs"
            f" alone, or run with --trial-concurrency=1",
            pytrace=False,
        )


@contextmanager
def refuse_patching(hub: Hub) -> Iterator[None]:
    """Fail tests in flight that patch what all of the process shares, while the body runs."""
    patch: Any = vars(unittest.mock)["_patch"]
    patch_dict: Any = vars(unittest.mock)["_patch_dict"]
    redirect: Any = vars(contextlib)["_RedirectStream"]
    targets: list[tuple[Any, str, str]] = [
        (patch, "__enter__", "unittest.mock.patch()"),
        (patch_dict, "_patch_dict", "unittest.mock.patch.dict()"),  # as a decorator too
        (redirect, "__enter__", "contextlib.redirect_stdout() or redirect_stderr()"),
        (os, "chdir", "os.chdir()"),
        (os, "fchdir", "os.fchdir()"),
        (WarningsRecorder, "__enter__", "pytest.warns() or deprecated_call()"),
        *(
            (pytest.MonkeyPatch, name, f"MonkeyPatch.{name}()")
            for name in (
                "setattr",
                "delattr",
                "setitem",
                "delitem",
                "setenv",
                "delenv",
                "chdir",
                "syspath_prepend",
            )
        ),
    ]
    with ExitStack() as stack:
        stack.enter_context(_no_filters_across_await(hub))
        for owner, name, words in targets:
            original = getattr(owner, name, None)
            if original is not None:
                stack.enter_context(replaced(owner, name, _refusing(hub, original, words)))
        yield


def _refusing(hub: Hub, original: Callable[..., Any], words: str) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        if _is_users_code(hub):
            raise _refusal(words, pytrace=True)
        return original(*arguments, **options)

    return call


@contextmanager
def _no_filters_across_await(hub: Hub) -> Iterator[None]:
    """End a trial that awaits inside of `warnings.catch_warnings()` while the body runs."""
    enter, leave = warnings.catch_warnings.__enter__, warnings.catch_warnings.__exit__
    entered: set[int] = set()

    def look(slot: Slot, caught: Any) -> None:
        if id(caught) in entered and slot.stop is None:
            slot.stop = _refusal("warnings.catch_warnings() around an await")
            hub.wake(slot)

    def entering(caught: Any) -> Any:
        slot = None if hub.running is not None else slot_of_context()
        loop = asyncio._get_running_loop()
        if slot is not None and loop is not None and loop is hub.loop:
            entered.add(id(caught))
            loop.call_soon(look, slot, caught)  # comes when the trial has awaited
        return enter(caught)

    def leaving(caught: Any, *error: Any) -> None:
        entered.discard(id(caught))
        leave(caught, *error)

    with (
        replaced(warnings.catch_warnings, "__enter__", entering),
        replaced(warnings.catch_warnings, "__exit__", leaving),
    ):
        yield


def refuse_open_filters(before: object) -> None:
    """Fail the test whose fixture has changed the filters of warnings for as long as it lives.

    Args:
        before: `warnings.filters` before the fixture ran.

    Raises:
        TrialRefused: If another list is in place now.
    """
    if warnings.filters is before:
        return
    warnings.filters = before  # type: ignore[assignment]
    warnings.filterwarnings("ignore", message="(?!)")  # tells Python that the filters have changed
    raise _refusal("warnings.catch_warnings() in a function-scoped fixture")


def _refusal(words: str, *, pytrace: bool = False) -> TrialRefused:
    return TrialRefused(
        f"{words} changes process-wide state while other trials are running. {_INSTEAD}",
        pytrace=pytrace,
    )


def _is_users_code(hub: Hub) -> bool:
    """Whether the caller is a test in flight or a fixture of its own, and not pytest or a plugin."""
    if hub.is_here():
        slot = hub.running
        return slot is not None and slot.fixture_depth > 0 and slot.shared_depth == 0
    slot = slot_of_context()
    return slot is not None and slot.shared_depth == 0
