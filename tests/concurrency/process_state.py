"""What a session must leave as it found it."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import logging
import os
import signal
import sys
import threading
import unittest.mock
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import _pytest.assertion.util
import _pytest.fixtures
import _pytest.runner
import pytest
from _pytest.capture import CaptureManager
from _pytest.logging import LogCaptureFixture, LoggingPlugin
from _pytest.recwarn import WarningsRecorder

__all__ = ["changes", "process_state"]

_METHODS: tuple[tuple[Any, str], ...] = (
    (_pytest.assertion.util, "_assertion_pass"),
    (_pytest.assertion.util, "_reprcompare"),
    (_pytest.fixtures, "call_fixture_func"),
    (_pytest.fixtures, "_teardown_yield_fixture"),
    (_pytest.fixtures.FixtureDef, "execute"),
    (_pytest.fixtures.FixtureDef, "finish"),
    (_pytest.fixtures.FixtureRequest, "getfixturevalue"),
    (_pytest.runner, "_update_current_test_var"),
    (CaptureManager, "resume_global_capture"),
    (CaptureManager, "suspend_global_capture"),
    (CaptureManager, "read_global_capture"),
    (LogCaptureFixture, "at_level"),
    (LogCaptureFixture, "set_level"),
    (LogCaptureFixture, "_finalize"),
    (LoggingPlugin, "_runtest_for"),
    (WarningsRecorder, "__enter__"),
    (ThreadPoolExecutor, "submit"),
    (asyncio.BaseEventLoop, "run_until_complete"),
    (asyncio.Runner, "run"),
    (builtins, "print"),
    (contextlib.redirect_stdout, "__enter__"),
    (os, "chdir"),
    (os, "fchdir"),
    (pytest.MonkeyPatch, "setattr"),
    (pytest.MonkeyPatch, "setenv"),
    (pytest.MonkeyPatch, "chdir"),
    (pytest.MonkeyPatch, "syspath_prepend"),
    (sys, "excepthook"),
    (sys, "stdin"),
    (sys, "stdout"),
    (sys, "stderr"),
    (threading, "excepthook"),
    (threading.Thread, "start"),
    (unittest.mock._patch, "__enter__"),
    (unittest.mock._patch_dict, "__enter__"),
    (warnings, "_showwarnmsg_impl"),
    (warnings, "showwarning"),
    (warnings, "defaultaction"),
)


def process_state() -> dict[str, object]:
    """All that is the process's and that concurrency, or a suite, could leave changed."""
    root = logging.getLogger()
    state: dict[str, object] = {
        "working folder": os.getcwd(),
        "warning filters": list(warnings.filters),
        "SIGINT handler": signal.getsignal(signal.SIGINT),
        "root log level": root.level,
        "root log handlers": list(root.handlers),
        "disabled log level": root.manager.disable,
        "log level of a suite's logger": logging.getLogger("suite").level,
        "event loop policy": type(asyncio.get_event_loop_policy()),
    }
    for name, value in os.environ.items():
        if name != "PYTEST_CURRENT_TEST":  # of the session that runs this one, and of that one
            state[f"environment variable {name}"] = value
    for owner, name in _METHODS:
        state[f"{getattr(owner, '__name__', owner)}.{name}"] = getattr(owner, name, None)
    return state


def changes(before: dict[str, object], after: dict[str, object]) -> list[str]:
    """What differs, a line each."""
    return [
        f"{name}: {before.get(name)!r} -> {after.get(name)!r}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
