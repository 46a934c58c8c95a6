"""Threads that a trial starts belong to the trial: they inherit its context."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

from seatrial.scope import current_scope

__all__ = ["carry_scope_into_threads"]

_lock = threading.Lock()
_users = 0
_start = threading.Thread.start
_submit = ThreadPoolExecutor.submit


@contextmanager
def carry_scope_into_threads() -> Iterator[None]:
    """While active, `Thread.start` and `ThreadPoolExecutor.submit` carry a trial's context along.

    Code outside of any trial is not affected. Nests and may be entered from several threads.
    """
    global _users, _start, _submit  # noqa: PLW0603 - there is one Thread class to patch per process
    with _lock:
        if _users == 0:
            _start, _submit = threading.Thread.start, ThreadPoolExecutor.submit
            threading.Thread.start = _start_in_context  # type: ignore[assignment, method-assign]
            ThreadPoolExecutor.submit = _submit_in_context  # type: ignore[assignment, method-assign]
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                threading.Thread.start = _start  # type: ignore[method-assign]
                ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign]


def _start_in_context(thread: threading.Thread) -> None:
    if current_scope() is not None:
        context, run = copy_context(), thread.run

        def run_in_context() -> None:
            del thread.run  # uncover the class's own: no cycle, and nothing of ours left behind
            context.run(run)

        thread.run = run_in_context  # type: ignore[method-assign]
    _start(thread)


def _submit_in_context(
    executor: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Future[Any]:
    if current_scope() is not None:
        return _submit(executor, copy_context().run, function, *args, **kwargs)
    return _submit(executor, function, *args, **kwargs)
