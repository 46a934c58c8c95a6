"""Items that an xdist worker is told to run, as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from seatrial.plugin.concurrency.xdist_messages import PLAN, RUN_ALONE, STARTED
from seatrial.plugin.plan import planned_trials
from seatrial.plugin.stopping import find_worker

__all__ = ["WorkerItems", "worker_items"]


class WorkerItems:
    """The queue of a worker, read without blocking while trials are in flight.

    xdist never takes back an item that is claimed as the next one, as its own loop relies on too.
    """

    def __init__(self, interactor: Any) -> None:
        self._interactor = interactor
        # The module runs under another name in a worker; this is the class that it uses there.
        self._shutdown = type(interactor).run_one_test.__globals__["Marker"].SHUTDOWN
        self._head: Any = None
        self._call: Callable[[], None] = _nothing
        self._suspects: set[int] = set()
        self._plan_sent = False
        interactor.channel.setcallback(self._handle, endmarker=self._shutdown)

    def peek(self) -> int | None:
        """The next position, if one has come."""
        self._claim()
        return None if self._head is None or self._head is self._shutdown else self._head

    def take(self) -> int:
        """The position that `peek` gave."""
        position: int = self._head
        self._head = None
        return position

    def is_known(self) -> bool:
        """Whether an item, or the end, has come."""
        self._claim()
        return self._head is not None

    def wait(self) -> None:
        """Block until one has."""
        if self._head is None:
            self._head = self._interactor.torun.get()

    def is_suspect(self, position: int) -> bool:
        """Whether a worker died while this item was one of several in flight."""
        return position in self._suspects

    def starting(self, position: int) -> None:
        """Tell the controller, which needs to know what was in flight when this worker dies.

        Once workers die it needs the plan too: maybe none lives to bring it with a report.
        """
        if self._suspects and not self._plan_sent:
            self._plan_sent = True
            self._send_plan()
        self._interactor.sendevent(STARTED, position=position)

    def reporting(self, position: int) -> None:
        """Reports are sent with the position of their item."""
        self._interactor.item_index = position

    def finished(self, position: int) -> None:
        """Tell the controller, without a duration: xdist would take it for how long a slot is busy."""
        self._interactor.sendevent("runtest_protocol_complete", item_index=position, duration=0.0)

    def on_change(self, call: Callable[[], None]) -> None:
        """Call back when the controller has sent something."""
        self._call = call

    def _claim(self) -> None:
        if self._head is not None:
            return
        with self._interactor.torun.lock() as waiting:
            if waiting:
                self._head = waiting.popleft()

    def _handle(self, command: Any) -> None:
        if isinstance(command, tuple) and command[0] == RUN_ALONE:
            self._suspects.update(command[1]["positions"])
            return
        self._interactor.handle_command(command)
        self._call()

    def _send_plan(self) -> None:
        from seatrial.codec import dump_plan

        plan = planned_trials(self._interactor.session.items)
        self._interactor.sendevent(PLAN, text=dump_plan(tuple(plan.values())))


def worker_items(config: pytest.Config) -> WorkerItems | None:
    """The queue of the worker that this is, None in any other process."""
    worker = find_worker(config)
    return None if worker is None else WorkerItems(worker)


def _nothing() -> None:
    pass
