"""The run loop with trials in flight together: sections in turn, everything else as pytest runs it."""

from __future__ import annotations

import functools
import os
import time
from collections import Counter
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

from seatrial.plugin.concurrency.eligibility import reason_to_run_alone, section_of
from seatrial.plugin.concurrency.refusals import refuse_foreign_protocols, refuse_marks
from seatrial.plugin.concurrency.section import SectionRun
from seatrial.plugin.concurrency.slot import Slot
from seatrial.plugin.concurrency.source import ItemSource, SessionItems
from seatrial.plugin.concurrency.xdist_worker import worker_items
from seatrial.plugin.keys import plan_key
from seatrial.plugin.pace import Pace
from seatrial.plugin.refused import TrialRefused
from seatrial.plugin.timeouts import TimedBody
from seatrial.plugin.trial_options import TrialOptions
from seatrial.text import escape

__all__ = ["ConcurrentRun"]

_SHOWN = 10_000
"""Characters of text that belongs to nobody, kept for the summary."""


class ConcurrentRun:
    """Registered as a plugin where more than one trial may be in flight."""

    def __init__(self, options: TrialOptions) -> None:
        self._concurrency = options.concurrency
        self._pace = Pace(options.concurrency, options.rate_per_s)
        self._section: SectionRun | None = None
        self.alone: Counter[str] = Counter()
        self.unattributed = ""
        self.blocked: list[str] = []

    def run(self, session: pytest.Session, source: ItemSource) -> None:
        """Run all that the source gives, until it is empty or the session stops."""
        source.wait()
        while (position := source.peek()) is not None:
            item = session.items[position]
            section = None if source.is_suspect(position) else section_of(item)
            if section is None:
                self._run_alone(session, source, item)
            else:
                self._section = SectionRun(
                    session,
                    source,
                    section,
                    concurrency=self._concurrency,
                    pace=self._pace,
                    unattributed=self._keep,
                    blocked=functools.partial(self._tell_blocked, session.config),
                )
                try:
                    self._section.run()
                finally:
                    self._section = None
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
            source.wait()

    def _run_alone(self, session: pytest.Session, source: ItemSource, item: pytest.Item) -> None:
        position = source.take()
        if not source.is_suspect(position):  # of suspects, the controller tells
            self._count_alone(item)
        source.wait()
        following = source.peek()
        nextitem = None if following is None else session.items[following]
        source.starting(position)
        source.reporting(position)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        source.finished(position)

    def _count_alone(self, item: pytest.Item) -> None:
        if plan_key in item.stash and isinstance(item, pytest.Function):
            self.alone[reason_to_run_alone(item) or "is not a plain test function"] += 1

    def _keep(self, text: str) -> None:
        self.unattributed = (self.unattributed + text)[:_SHOWN]

    def _tell_blocked(self, config: pytest.Config, text: str) -> None:
        """Say it at once, past pytest's capturing, and again in the summary."""
        self.blocked.append(text)
        stream = config.stash.get(fault_handler_stderr_fd_key, None)
        with suppress(OSError):
            os.write(2 if stream is None else stream, f"\nseatrial: {escape(text)}\n".encode())

    def _slot(self, item: pytest.Item) -> Slot | None:
        """The slot of the item, if the caller is on its stack."""
        slot = None if self._section is None else self._section.hub.running
        return slot if slot is not None and slot.item is item else None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Refuse early what is known early."""
        if not hasattr(session.config, "workerinput"):
            refuse_foreign_protocols(session.config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the session's items, unless pytest or xdist has something else to do."""
        has_errors = session.testsfailed and not session.config.option.continue_on_collection_errors
        if has_errors or session.config.option.collectonly:
            return None
        if session.config.pluginmanager.hasplugin("dsession"):
            return None  # xdist's controller runs nothing itself
        refuse_foreign_protocols(session.config)
        refuse_marks(session.items)
        source = worker_items(session.config)
        if source is None:
            self.run(session, SessionItems(session.items))
        else:
            # As xdist's own loop, this just ends; the controller reads why from the session.
            with suppress(session.Failed, session.Interrupted):
                self.run(session, source)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Run the phases of an item that is in flight."""
        if self._section is None or self._slot(item) is None:
            return None
        self._section.run_phases()
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Run a sync test in the item's thread."""
        __tracebackhide__ = True
        slot = self._slot(pyfuncitem)
        if slot is None:
            return (yield)
        if slot.stop is not None:
            raise slot.stop
        thread = slot.thread
        if thread is None:
            result = yield
            if isinstance(slot.stop, TrialRefused):
                raise slot.stop  # it ended before it could be stopped
            return result
        before = pyfuncitem.obj
        function, limit = before, None
        if isinstance(before, TimedBody):
            function, limit = before.function, before.limit

        @functools.wraps(function)
        def in_thread(**arguments: object) -> object:
            __tracebackhide__ = True
            return thread.run_body(functools.partial(function, **arguments), limit)

        pyfuncitem.obj = in_thread
        try:
            return (yield)
        finally:
            pyfuncitem.obj = before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Take the time that an item waited for its turn out of its duration."""
        slot = self._slot(item)
        if slot is not None:
            call.duration = max(0.0, call.duration - slot.lag_s)
        return (yield)

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> bool | None:
        """Keep the time of pytest-timeout: its own alarm is the process's, and ends all of it."""
        slot = self._slot(item)
        if self._section is None or slot is None:
            return None
        hub = self._section.hub
        slot.alarm += 1
        number = slot.alarm

        def expire() -> None:
            if slot.alarm == number and not slot.over and slot.stop is None:
                slot.stop = pytest.fail.Exception(
                    f"Timeout (>{settings.timeout}s) from pytest-timeout.", pytrace=False
                )
                hub.wake(slot)

        hub.at(time.monotonic() + settings.timeout, expire)
        return True

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_timeout_cancel_timer(self, item: pytest.Item) -> bool | None:
        """Forget the time that was kept for the item."""
        slot = self._slot(item)
        if slot is None:
            return None
        slot.alarm += 1
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what ran alone, and what nobody in flight can be shown to have written."""
        if self.unattributed:
            terminalreporter.write_sep("=", "Written during concurrent trials, by none of them")
            terminalreporter.write_line(escape(self.unattributed))
        for text in self.blocked:
            terminalreporter.write_line(escape(text, keep=""))
        for reason, count in sorted(self.alone.items()):
            trials = "1 trial" if count == 1 else f"{count} trials"
            terminalreporter.write_line(f"{trials} ran one at a time: {escape(reason, keep='')}")
