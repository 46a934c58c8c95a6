"""Whom a worker that died is blamed on, when it may have died of any trial that was in flight.

Of several nobody is blamed. They are suspects: they run again, in whatever worker they come to, with
nothing else in flight. Who is in flight alone when a worker dies is to blame, and runs no more. So a
trial is tried twice at most, once among others and once alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from seatrial.plugin.concurrency.xdist_messages import PLAN, RUN_ALONE, STARTED

__all__ = ["CrashBlame", "WorkerWatch"]


class WorkerWatch:
    """What one worker has begun and ended, heard from its messages before xdist handles them.

    Attributes:
        in_flight: Positions of items that have begun and not ended.
        ended: Positions of items whose last report has come, and xdist has not yet ticked off.
        plan: The worker's plan as text, if it had to send it ahead of a report.
    """

    def __init__(self, node: Any) -> None:
        """Watch the worker that xdist is about to start."""
        self.in_flight: set[int] = set()
        self.ended: set[int] = set()
        self.plan: str | None = None
        self._receive = node.process_from_remote
        node.process_from_remote = self._hear

    def _hear(self, message: Any) -> None:
        """Take a message from the worker; xdist's own is passed on. Runs in xdist's thread."""
        name, content = message if isinstance(message, tuple) else ("", {})
        if name == STARTED:
            self.in_flight.add(content["position"])
            return
        if name == PLAN:
            self.plan = content["text"]
            return
        if name == "testreport" and content["data"].get("when") == "teardown":
            position = content["data"].get("item_index")
            self.in_flight.discard(position)
            self.ended.add(position)
        elif name == "runtest_protocol_complete":
            self.ended.discard(content["item_index"])
        self._receive(message)


class CrashBlame:
    """Takes part when xdist's scheduler loses a worker."""

    def __init__(self) -> None:
        """Serve one session; it has no suspects yet."""
        self.told: list[str] = []
        self._watches: dict[Any, WorkerWatch] = {}
        self._suspects: set[int] = set()
        self._scheduler: Any = None

    def watch(self, node: Any) -> None:
        """Listen to a worker before it starts, and bear that it dies while it is sent something.

        xdist breaks down there. It hears of the death next, and takes back what it sent.
        """
        self._watches[node] = WorkerWatch(node)
        node.sendcommand = _despite_death(node.sendcommand)

    def warn(self, node: Any) -> None:
        """Tell a worker of the suspects, before it is sent any."""
        if self._suspects:
            node.sendcommand(RUN_ALONE, positions=sorted(self._suspects))

    def plan_of(self, node: Any) -> str | None:
        """The plan that a worker sent ahead of its reports, once; None if it sent none."""
        watch = self._watches[node]
        plan, watch.plan = watch.plan, None
        return plan

    def adapt(self, scheduler: Any) -> None:
        """Have one of xdist's schedulers, or one derived from them, give up workers in our way."""
        self._scheduler = scheduler
        if hasattr(scheduler, "node2pending"):
            scheduler.remove_node = _from_lists(self, scheduler)
            if _is_each(scheduler):
                _mend_each(scheduler)
        elif hasattr(scheduler, "assigned_work"):
            scheduler.remove_node = _from_units(self, scheduler)
            scheduler._reschedule = _giving_two(scheduler)

    def ended(self, node: Any) -> frozenset[int]:
        """Positions of items that are over in that worker, whatever the scheduler thinks."""
        return frozenset(self._watches[node].ended)

    def is_suspect(self, position: int) -> bool:
        """Whether an item was one of several in flight in a worker that died."""
        return position in self._suspects

    def culprit(self, node: Any, pending: list[int]) -> int | None:
        """Who is to blame that a worker died; None if nobody can say yet.

        Args:
            node: The worker.
            pending: Positions of the items that it had yet to end, at least one, in their order.
        """
        begun = self._watches[node].in_flight
        in_flight = [position for position in pending if position in begun]
        if len(in_flight) == 1:
            return in_flight[0]
        if not in_flight and pending[0] in self._suspects:
            return pending[0]  # somebody has to be, or workers that die at once come without end
        self._suspects.update(in_flight or pending[:1])
        if not _is_each(self._scheduler):  # there, only a replacing worker gets them
            for other in self._scheduler.nodes:
                if other is not node:
                    self.warn(other)
        if in_flight:
            self.told.append(
                f"{node.gateway.id} died with {len(in_flight)} trials in flight; each had to run"
                " again, alone, to show which it died of"
            )
        return None


def _from_lists(blame: CrashBlame, scheduler: Any) -> Callable[[Any], str | None]:
    """`remove_node` for a scheduler that keeps a list of positions for each worker."""
    remove = scheduler.remove_node

    def remove_node(node: Any) -> str | None:
        pending: list[int] = scheduler.node2pending.get(node, [])
        ended = blame.ended(node)
        pending[:] = [position for position in pending if position not in ended]
        if not pending:
            return _text(remove(node))
        culprit = blame.culprit(node, pending)
        if culprit is None:
            # Whoever can run together does so first.
            pending.sort(key=blame.is_suspect)
            # The scheduler takes the first one out, and lets the others run elsewhere.
            pending.insert(0, pending[0])
            remove(node)
            return None
        pending.remove(culprit)
        pending.insert(0, culprit)
        return _text(remove(node))

    return remove_node


def _from_units(blame: CrashBlame, scheduler: Any) -> Callable[[Any], str | None]:
    """`remove_node` for a scheduler that gives each worker units of node ids, ticked off one by one."""
    remove = scheduler.remove_node

    def remove_node(node: Any) -> str | None:
        units: dict[str, dict[str, bool]] = scheduler.assigned_work.get(node, {})
        collection = scheduler.registered_collections.get(node, ())
        place = {nodeid: position for position, nodeid in enumerate(collection)}
        _tick_off(units, (collection[position] for position in blame.ended(node)))
        pending = [place[n] for unit in units.values() for n, done in unit.items() if not done]
        culprit = blame.culprit(node, pending) if pending else None
        crashed = None if culprit is None else collection[culprit]
        if crashed is not None:
            _tick_off(units, [crashed])
        for scope in [scope for scope, unit in units.items() if all(unit.values())]:
            del units[scope]  # else it is handed out again, with nothing in it
        remove(node)
        return crashed

    return remove_node


def _tick_off(units: Mapping[str, dict[str, bool]], nodeids: Iterable[str]) -> None:
    for nodeid in nodeids:
        for unit in units.values():
            if nodeid in unit:
                unit[nodeid] = True


def _giving_two(scheduler: Any) -> Callable[[Any], None]:
    """`_reschedule` for a scheduler of units: a worker needs two items to run the first.

    One that has not collected yet is left in peace; xdist breaks down over it.
    """
    reschedule = scheduler._reschedule

    def give_two(node: Any) -> None:
        if node not in scheduler.registered_collections:
            return
        reschedule(node)
        while (
            scheduler.workqueue
            and not node.shutting_down
            and scheduler._pending_of(scheduler.assigned_work[node]) < 2
        ):
            scheduler._assign_work_unit(node)

    return give_two


def _is_each(scheduler: Any) -> bool:
    """Whether every worker runs every item."""
    return hasattr(scheduler, "_removed2pending")


def _mend_each(scheduler: Any) -> None:
    """Have `--dist=each` know what replacing workers collected.

    xdist breaks down when one of them dies too, when two come together, and when nothing is left.
    """
    add, schedule = scheduler.add_node_collection, scheduler.schedule

    def add_node_collection(node: Any, collection: Sequence[str]) -> None:
        is_replacing = scheduler.collection_is_completed
        add(node, collection)
        if is_replacing:
            scheduler.node2collection[node] = list(collection)
            if not scheduler.node2pending[node]:
                scheduler._started.append(node)
                node.shutdown()

    def schedule_collected() -> None:
        pending = scheduler.node2pending
        waiting = [node for node in scheduler.nodes if node not in scheduler.node2collection]
        kept = {node: pending.pop(node) for node in waiting}
        schedule()
        pending.update(kept)

    scheduler.add_node_collection = add_node_collection
    scheduler.schedule = schedule_collected


def _despite_death(send: Callable[..., None]) -> Callable[..., None]:
    def sendcommand(name: str, **content: object) -> None:
        with suppress(OSError):
            send(name, **content)

    return sendcommand


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
