"""Threads that a trial starts belong to the trial: they inherit its context."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import thread as executors
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import Any
from weakref import WeakKeyDictionary

from seatrial.scope import LentScope, current_scope, lent_scope

__all__ = ["carry_scope_into_threads", "context_of", "forget_late_workers"]

_lock = threading.Lock()
_users = 0
_start = threading.Thread.start
_submit = ThreadPoolExecutor.submit
_lent: WeakKeyDictionary[threading.Thread, LentScope] = WeakKeyDictionary()
"""Threads started by code that its trial may give up on."""
_contexts: WeakKeyDictionary[threading.Thread, Context] = WeakKeyDictionary()


def context_of(thread: threading.Thread) -> Context | None:
    """The context that a trial's thread was started with; None for any other thread."""
    return _contexts.get(thread)


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
        context, run, lent = copy_context(), thread.run, lent_scope()

        def run_in_context() -> None:
            del thread.run  # uncover the class's own: no cycle, and nothing of ours left behind
            try:
                context.run(run)
            except BaseException:
                if lent is None or not lent.taken_back:  # else it is nobody's any more
                    raise

        thread.run = run_in_context  # type: ignore[method-assign]
        _contexts[thread] = context
        if lent is not None:
            _lent[thread] = lent
    _start(thread)


def _submit_in_context(
    executor: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Future[Any]:
    if current_scope() is not None:
        return _submit(executor, copy_context().run, function, *args, **kwargs)
    return _submit(executor, function, *args, **kwargs)


def forget_late_workers() -> None:
    """Let the process exit without waiting for executors of trials that were given up on."""
    # Python joins the workers of every executor at exit, with no public way to let one go.
    workers = getattr(executors, "_threads_queues", {})
    for worker in list(workers):
        lent = _lent.get(worker)
        if lent is not None and lent.taken_back:
            workers.pop(worker, None)
