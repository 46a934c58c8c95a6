"""A section: consecutive items with the same parent, up to K of them in flight."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from seatrial.plugin.cancelled import TrialCancelled
from seatrial.plugin.concurrency.anyio_runners import route_anyio
from seatrial.plugin.concurrency.assertions import explain_assertions, name_current_tests
from seatrial.plugin.concurrency.eligibility import Section, is_sync, section_of
from seatrial.plugin.concurrency.event_loops import ItemLoops
from seatrial.plugin.concurrency.fixtures import ItemFixtures
from seatrial.plugin.concurrency.hub import Hub
from seatrial.plugin.concurrency.interrupt import Interruption
from seatrial.plugin.concurrency.item_thread import ItemThread
from seatrial.plugin.concurrency.logs import route_logs
from seatrial.plugin.concurrency.patches import replaced
from seatrial.plugin.concurrency.protocol import protocol_caller, run_phases
from seatrial.plugin.concurrency.setup_state import SectionSetupState
from seatrial.plugin.concurrency.slot import Slot
from seatrial.plugin.concurrency.source import ItemSource
from seatrial.plugin.concurrency.streams import route_streams
from seatrial.plugin.concurrency.thread_errors import route_thread_errors
from seatrial.plugin.concurrency.unsafe import refuse_patching
from seatrial.plugin.concurrency.warning_routes import report_warnings, route_warnings
from seatrial.plugin.concurrency.watchdog import watched
from seatrial.plugin.keys import plan_key
from seatrial.plugin.pace import Pace

__all__ = ["SectionRun"]


class SectionRun:
    """Runs one section from its first item to the last."""

    def __init__(
        self,
        session: pytest.Session,
        source: ItemSource,
        section: Section,
        *,
        concurrency: int,
        pace: Pace,
        unattributed: Callable[[str], None],
        blocked: Callable[[str], None],
    ) -> None:
        self._session = session
        self._source = source
        self._section = section
        self._concurrency = concurrency
        self._pace = pace
        self._unattributed = unattributed
        self._blocked = blocked
        self.hub = Hub()
        self._in_flight: list[Slot] = []
        self._setup_state = SectionSetupState(self.hub, session._setupstate, self._is_last)
        self._fixtures = ItemFixtures(self.hub, session, self._in_flight)
        self._interruption = Interruption(self.hub.poke)
        self._call_protocol: Callable[..., object] | None = None
        self._closer: Slot | None = None
        self._due = 0.0
        self._judged: int | None = None
        self._next: pytest.Function | None = None

    def run(self) -> None:
        """Run items until the next one is not of this section, or the session stops.

        Raises:
            BaseException: What ended the session, after all that was in flight has been torn down.
        """
        first = self._next_item()
        assert first is not None
        self._call_protocol = protocol_caller(first)
        try:
            with self._interruption.watched(), self._isolated(first):
                self._source.on_change(self._look_again)
                while self._launch() or self._in_flight:
                    self.hub.step()
                    self._collect()
        except BaseException:
            for slot in self._in_flight:
                self.hub.abandon(slot)
            raise
        if self.hub.errors:
            raise self.hub.errors[0]
        if self._interruption.requested:
            raise KeyboardInterrupt

    def run_phases(self) -> None:
        """Run the phases of the item whose stack this is."""
        slot = self.hub.running
        assert slot is not None
        run_phases(slot, reporting=self._source.reporting)

    def _launch(self) -> bool:
        """Start as many items as may start now.

        Returns:
            Whether more items of this section are waiting to start.
        """
        while self._stop_reason() is None:
            item = self._next_item()
            if item is None:
                return False
            if len(self._in_flight) >= self._concurrency or self._is_capped(item):
                return True
            due = self._pace.due()
            if due > time.monotonic():
                if due != self._due:
                    self._due = due
                    self.hub.at(due, lambda: None)
                return True
            self._pace.started(time.monotonic())
            self._start(Slot(item, self._source.take()))
            self._collect()
        return False

    def _start(self, slot: Slot) -> None:
        if is_sync(slot.item):
            slot.thread = ItemThread(self.hub, slot)
        self._in_flight.append(slot)
        self._look_again()
        self._source.starting(slot.position)
        call = self._call_protocol
        assert call is not None

        def protocol() -> None:
            with self._fixtures.own(slot):
                call(item=slot.item, nextitem=None)
            report_warnings(slot)

        self.hub.start(slot, protocol)

    def _collect(self) -> None:
        """Forget items that are over; cancel the others if the session stops."""
        for slot in [slot for slot in self._in_flight if slot.over]:
            self._in_flight.remove(slot)
            if slot.thread is not None:
                slot.thread.end()
                # Contexts of threads are kept for as long as the thread is, and they hold the slot.
                slot.thread = None
            self._source.finished(slot.position)
            self._look_again()
        if self._interruption.repeated:
            raise KeyboardInterrupt
        reason = self._stop_reason()
        if reason is None:
            return
        for slot in self._in_flight:
            if slot.stop is None:
                slot.stop = TrialCancelled(reason)
                self.hub.wake(slot)

    def _stop_reason(self) -> str | None:
        if self.hub.errors:
            error = self.hub.errors[0]
            return str(error) or type(error).__name__
        if self._interruption.requested:
            return "KeyboardInterrupt"
        stop = self._session.shouldfail or self._session.shouldstop
        return str(stop) if stop else None

    def _next_item(self) -> pytest.Function | None:
        position = self._source.peek()
        if position is None:
            return None
        if position != self._judged:
            self._judged = position
            item = self._session.items[position]
            alike = section_of(item) == self._section and not self._source.is_suspect(position)
            self._next = item if alike else None  # type: ignore[assignment]
        return self._next

    def _is_capped(self, item: pytest.Function) -> bool:
        cap = item.stash[plan_key].concurrency
        if cap is None:
            return False
        alike = sum(slot.item.originalname == item.originalname for slot in self._in_flight)
        return alike >= cap

    def _is_last(self) -> tuple[bool, pytest.Item | None]:
        """Decide, for an item that is torn down, whether it takes the shared fixtures with it.

        The last one does, after waiting for the others, so that they are torn down in a report of
        an item that used them. If the session breaks off, its end tears them down.
        """
        slot = self.hub.running
        assert slot is not None
        if self._closer is not None or self._is_followed(slot):
            return False, None
        self._closer = slot
        self.hub.wait(
            lambda: (
                self._is_followed(slot)
                or (self._is_alone(slot) and (self._source.is_known() or self._is_stopping()))
            )
        )
        self._closer = None
        if self._is_followed(slot) or self.hub.errors or self._interruption.requested:
            return False, None
        position = None if self._is_stopping() else self._source.peek()
        return True, None if position is None else self._session.items[position]

    def _is_followed(self, slot: Slot) -> bool:
        """Whether an item in flight, or the next one, will enter its tear-down later."""
        if any(other.phase != "teardown" for other in self._in_flight if other is not slot):
            return True
        return not self._is_stopping() and self._next_item() is not None

    def _look_again(self) -> None:
        """Consider what the source has now. Callable from every thread."""
        closer = self._closer
        if closer is None:
            self.hub.poke()
        else:
            self.hub.wake(closer)

    def _is_alone(self, slot: Slot) -> bool:
        return all(other is slot or other.over for other in self._in_flight)

    def _is_stopping(self) -> bool:
        return self._stop_reason() is not None

    @contextmanager
    def _isolated(self, item: pytest.Function) -> Iterator[None]:
        """Everything that keeps items in flight apart, around all of them."""
        config = self._session.config
        with ExitStack() as stack:
            stack.callback(self._setup_state.leave)
            stack.enter_context(replaced(self._session, "_setupstate", self._setup_state))
            for part in (
                explain_assertions(item),
                name_current_tests(item),
                self._fixtures.routed(),
                route_anyio(self.hub),
                ItemLoops(self.hub, self._concurrency).routed(),
                route_streams(self.hub, config, self._unattributed),
                route_logs(config),
                route_warnings(item),
                route_thread_errors(self.hub, config),
                refuse_patching(self.hub),
                watched(self.hub, self._in_flight, self._blocked),
            ):
                stack.enter_context(part)
            yield
