"""anyio's test runner for items in flight: one event loop, and a runner of its own for each item.

anyio has one runner per process, which runs one coroutine at a time. While items are in flight, each
gets a copy of it, on the same loop. Shared fixtures keep the runner that anyio made.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from seatrial.plugin.concurrency.hub import Hub
from seatrial.plugin.concurrency.patches import replaced
from seatrial.plugin.concurrency.slot import Slot, slot_of_context

__all__ = ["route_anyio"]

_PLUGIN = "anyio.pytest_plugin"


class _ItemRunners:
    """The runners of items in flight, all on the loop of the one that anyio made."""

    def __init__(self, hub: Hub, get_runner: Any) -> None:
        self._hub = hub
        self._get_runner = get_runner
        self._lease = ExitStack()
        self._shared: Any = None
        self._own: dict[Slot, tuple[Any, int]] = {}

    @contextmanager
    def get_runner(self, backend_name: str, backend_options: Any) -> Iterator[Any]:
        slot = self._hub.running if self._hub.is_here() else None
        if slot is None or slot.shared_depth or backend_name != "asyncio":
            with self._get_runner(backend_name, backend_options) as runner:
                yield runner
            return
        if self._shared is None:
            # The context that `close` is called in: anyio notes there which library runs.
            self._shared = self._hub.call_in_main_context(
                lambda: self._lease.enter_context(self._get_runner(backend_name, backend_options))
            )
            self._shared.get_loop().set_exception_handler(self._note_exception)
        runner, users = self._own.get(slot) or (_copy_of(self._shared), 0)
        self._own[slot] = runner, users + 1
        try:
            yield runner
        finally:
            users = self._own[slot][1] - 1
            self._own[slot] = runner, users
            if not users:
                del self._own[slot]
                _end(runner)

    def close(self) -> None:
        self._lease.close()

    def _note_exception(self, loop: Any, context: dict[str, Any]) -> None:
        """Give an exception of a callback to the item whose callback it was."""
        handle = context.get("handle")
        variables = getattr(handle, "_context", None)
        slot = None if variables is None else slot_of_context(variables)
        runner = self._own[slot][0] if slot in self._own else self._shared
        runner._exception_handler(loop, context)


def _copy_of(shared: Any) -> Any:
    runner = copy.copy(shared)
    runner._exceptions = []
    runner._runner_task = None
    return runner


def _end(runner: Any) -> None:
    """Let the task end in which the runner ran the item's coroutines."""
    if runner._runner_task is not None and not runner._runner_task.done():
        runner._send_stream.close()
        runner.get_loop().run_until_complete(runner._runner_task)


@contextmanager
def route_anyio(hub: Hub) -> Iterator[None]:
    """Give items in flight runners of their own while the body runs, where anyio is in use."""
    plugin = sys.modules.get(_PLUGIN)
    if plugin is None:
        yield
        return
    runners = _ItemRunners(hub, plugin.get_runner)
    with replaced(plugin, "get_runner", runners.get_runner):
        try:
            yield
        finally:
            runners.close()
