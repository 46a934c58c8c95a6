"""Log records of items in flight: each goes to the handlers of the item whose code logged it.

Levels that `caplog` sets hold for one item, but loggers are the process's. So a logger gets the
lowest level that anybody asked for, and each item's records are filtered down to its own.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from _pytest.logging import (
    LogCaptureFixture,
    LogCaptureHandler,
    caplog_handler_key,
    caplog_records_key,
    catching_logs,
)
from _pytest.nodes import Node

from seatrial.plugin.concurrency.patches import replaced
from seatrial.plugin.concurrency.slot import slot_of_context
from seatrial.scope import is_given_up

__all__ = ["route_logs"]


class _Levels:
    """Who asked for which level of which logger."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._before: dict[str, int] = {}
        self._asked: dict[str, dict[int, int]] = {}
        self._disabled_before: int | None = None
        self._enabled: dict[int, int] = {}

    def ask(self, item: Node, name: str | None, level: int) -> None:
        logger = logging.getLogger(name)
        with self._lock:
            self._before.setdefault(logger.name, logger.level)
            self._asked.setdefault(logger.name, {})[id(item)] = level
            self._apply(logger)
            if not logger.isEnabledFor(level):
                if self._disabled_before is None:
                    self._disabled_before = logger.manager.disable
                self._enabled[id(item)] = max(level - 10, logging.NOTSET)
                logging.disable(min(self._enabled.values()))

    def asked(self, item: Node, name: str | None) -> int | None:
        return self._asked.get(logging.getLogger(name).name, {}).get(id(item))

    def asked_any(self, item: Node) -> bool:
        """Whether the item asked for a level of any logger."""
        return any(id(item) in asked for asked in self._asked.values())

    def forget(self, item: Node, name: str | None) -> None:
        logger = logging.getLogger(name)
        with self._lock:
            self._asked.get(logger.name, {}).pop(id(item), None)
            self._apply(logger)
            if not self.asked_any(item):
                self._enabled.pop(id(item), None)
                if not self._enabled and self._disabled_before is not None:
                    logging.disable(self._disabled_before)
                    self._disabled_before = None

    def forget_all(self, item: Node) -> None:
        for name in [name for name, asked in self._asked.items() if id(item) in asked]:
            self.forget(item, name)

    def hides(self, item: Node, record: logging.LogRecord) -> bool:
        """Whether an item would not have seen the record without the levels that others set."""
        if not self._asked:
            return False
        with self._lock:
            logger: logging.Logger | None = logging.getLogger(record.name)
            while logger is not None:
                asked = self._asked.get(logger.name, {})
                level = asked.get(id(item), self._before.get(logger.name, logger.level))
                if level:
                    return record.levelno < level
                logger = logger.parent
            return False

    def _apply(self, logger: logging.Logger) -> None:
        """Set the logger to the lowest level that anybody asked for."""
        asked = self._asked.get(logger.name)
        if asked:
            before = self._before[logger.name]
            if not before and logger.parent is not None:
                before = logger.parent.getEffectiveLevel()
            logger.setLevel(min(*asked.values(), before))
        elif logger.name in self._before:
            logger.setLevel(self._before.pop(logger.name))
            self._asked.pop(logger.name, None)


class _Router(logging.Handler):
    """The one handler on the root logger: passes records on to their item's handlers."""

    def __init__(self, levels: _Levels) -> None:
        super().__init__()
        self._levels = levels
        self.handlers: dict[int, tuple[LogCaptureHandler, LogCaptureHandler]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        slot = slot_of_context()
        handlers = None if slot is None else self.handlers.get(id(slot.item))
        if (
            slot is None
            or handlers is None
            or is_given_up()
            or self._levels.hides(slot.item, record)
        ):
            return
        for handler in handlers:
            if record.levelno >= handler.level:
                handler.handle(record)


@contextmanager
def route_logs(config: pytest.Config) -> Iterator[None]:
    """Route log records while the body runs."""
    plugin = config.pluginmanager.get_plugin("logging-plugin")
    if plugin is None:
        yield
        return
    levels = _Levels()
    router = _Router(levels)

    @contextmanager
    def runtest_for(item: pytest.Item, when: str) -> Iterator[None]:
        caplog, report = LogCaptureHandler(), LogCaptureHandler()
        for handler in (caplog, report):
            handler.setFormatter(plugin.formatter)
            if plugin.log_level is not None:
                handler.setLevel(plugin.log_level)
        previous = item.stash.get(caplog_handler_key, None)
        if previous is not None:
            caplog.filters = previous.filters
            if levels.asked_any(item):
                caplog.setLevel(previous.level)
        router.handlers[id(item)] = (caplog, report)
        item.stash[caplog_records_key][when] = caplog.records
        item.stash[caplog_handler_key] = caplog
        try:
            yield
        finally:
            del router.handlers[id(item)]
            item.add_report_section(when, "log", report.stream.getvalue().strip())

    with ExitStack() as stack:
        stack.enter_context(catching_logs(router, level=plugin.log_level))
        router.setLevel(logging.NOTSET)
        stack.enter_context(replaced(plugin, "_runtest_for", runtest_for))
        stack.enter_context(_own_levels(levels))
        yield


@contextmanager
def _own_levels(levels: _Levels) -> Iterator[None]:
    """Let `caplog` ask for levels instead of setting them."""

    def set_level(fixture: LogCaptureFixture, level: int | str, logger: str | None = None) -> None:
        number = _number(level)
        levels.ask(fixture._item, logger, number)
        fixture.handler.setLevel(number)

    @contextmanager
    def at_level(
        fixture: LogCaptureFixture, level: int | str, logger: str | None = None
    ) -> Iterator[None]:
        item = fixture._item
        asked, handler_level = levels.asked(item, logger), fixture.handler.level
        set_level(fixture, level, logger)
        try:
            yield
        finally:
            fixture.handler.setLevel(handler_level)
            if asked is None:
                levels.forget(item, logger)
            else:
                levels.ask(item, logger, asked)

    def finalize(fixture: LogCaptureFixture) -> None:
        levels.forget_all(fixture._item)

    with (
        replaced(LogCaptureFixture, "set_level", set_level),
        replaced(LogCaptureFixture, "at_level", at_level),
        replaced(LogCaptureFixture, "_finalize", finalize),
    ):
        yield


def _number(level: int | str) -> int:
    if isinstance(level, int):
        return level
    number: Any = logging.getLevelNamesMapping().get(level)
    if number is None:
        raise ValueError(f"Unknown level: {level!r}")
    return int(number)
