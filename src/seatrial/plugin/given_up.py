"""Code of a trial that was given up on and goes on all the same: it reaches no other trial.

Registered as a plugin when a session first gives up on a trial, so that other sessions pay nothing.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TextIO

import pytest

from seatrial.plugin.threads import carry_scope_into_threads, forget_late_workers
from seatrial.scope import is_given_up

__all__ = ["ignore_late_code"]

_NAME = "seatrial-given-up"


def ignore_late_code(config: pytest.Config) -> None:
    """From now on, keep what such code prints, logs and reports out of the session."""
    if not config.pluginmanager.hasplugin(_NAME):
        config.pluginmanager.register(_LateCode(config), _NAME)


class _LateCode:
    def __init__(self, config: pytest.Config) -> None:
        self._until_the_end = ExitStack()
        # Such code may start threads at any time, also between two trials.
        self._until_the_end.enter_context(carry_scope_into_threads())
        plugin = config.pluginmanager.getplugin("logging-plugin")
        for name in ("caplog_handler", "report_handler"):
            handler = getattr(plugin, name, None)
            if isinstance(handler, logging.Handler):
                handler.addFilter(_is_timely)
                self._until_the_end.callback(handler.removeFilter, _is_timely)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        """Keep what it prints out of the captured output."""
        with _timely_streams():
            return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        """Keep what it prints out of the captured output."""
        with _timely_streams():
            return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        """Keep what it prints out of the captured output."""
        with _timely_streams():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let it report no subtest: its trial has ended."""
        if is_given_up():
            raise RuntimeError("the trial timed out; nothing can be reported for it any more")
        return (yield)

    def pytest_unconfigure(self) -> None:
        """Let the process end although such code still runs."""
        self._until_the_end.close()
        forget_late_workers()


def _is_timely(record: logging.LogRecord) -> bool:
    return not is_given_up()


@contextmanager
def _timely_streams() -> Iterator[None]:
    placed = []
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not getattr(stream, "ignores_late_code", False):
            timely = _TimelyStream(stream)
            setattr(sys, name, timely)
            placed.append((name, stream, timely))
    try:
        yield
    finally:
        for name, stream, timely in placed:
            if getattr(sys, name) is timely:  # a capturing fixture may have put its own there
                setattr(sys, name, stream)


class _TimelyStream:
    """A stream that ignores what code given up on writes."""

    ignores_late_code = True

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        return len(text) if is_given_up() else self._stream.write(text)

    def writelines(self, lines: Any) -> None:
        if not is_given_up():
            self._stream.writelines(lines)
