"""Time limits: how long the body of a trial may take, and its end when it takes longer.

An async body is cancelled. A sync body runs in a thread of its own, on which the trial gives up: it
is recorded as timed out at once, and what the thread still does changes nothing.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any

import pytest

from seatrial.errors import TrialTimeoutError
from seatrial.plugin.given_up import ignore_late_code
from seatrial.plugin.keys import plan_key
from seatrial.plugin.trial_options import trial_options
from seatrial.scope import LentScope, bind, current_scope, unbind
from seatrial.waiting import waiting_until

__all__ = ["LentBody", "TimeLimit", "TimedBody", "limit_bodies", "limit_of", "timeout_error"]

_NAME = "seatrial-timeouts"
_OUTER_FRAMES = 20
_INNER_FRAMES = 80
"""Frames of a thread's stack that are shown: those where it began, and those where it stands."""

_Body = Callable[[], Coroutine[Any, Any, object]]
_STOPS = (KeyboardInterrupt, SystemExit, pytest.exit.Exception)


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """How long the body of a trial may take.

    Attributes:
        seconds: Above 0.
        source: Who says so, in words for a reader.
    """

    seconds: float
    source: str


def limit_of(item: pytest.Item) -> TimeLimit | None:
    """The time limit of a trial's body: its marker's, else the session's, else none.

    Items that are no trials have none.
    """
    plan = item.stash.get(plan_key, None)
    if plan is None:
        return None
    if plan.timeout_s is not None:
        return TimeLimit(plan.timeout_s, "timeout_s on its marker")
    seconds = trial_options(item.config).timeout_s
    if seconds is None:
        return None
    is_option = item.config.getoption("trial_timeout") is not None
    return TimeLimit(seconds, "--trial-timeout" if is_option else "trial_timeout")


def timeout_error(limit: TimeLimit, thread: int | None = None) -> TrialTimeoutError:
    """The error of a trial whose body takes longer than `limit`.

    Args:
        limit: The limit.
        thread: The identifier of the thread in which a `LentBody` runs; the error's traceback then
            ends where that thread stands now.
    """
    error = TrialTimeoutError(f"the trial timed out after {limit.seconds:.15g} s ({limit.source})")
    return error if thread is None else error.with_traceback(_stack_of(thread))


def limit_bodies(config: pytest.Config) -> None:
    """See to it that limits are kept; a session without any need not be asked at every test."""
    if not config.pluginmanager.hasplugin(_NAME):
        config.pluginmanager.register(sys.modules[__name__], _NAME)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Limit the body of a trial for this call."""
    limit = limit_of(item)
    if limit is None or not isinstance(item, pytest.Function):
        return (yield)
    owner, name = _holder(item)
    function = getattr(owner, name)
    limited: Callable[..., object]
    if inspect.iscoroutinefunction(function):
        limited = _limited(function, limit)
    else:
        limited = TimedBody(function, limit, item.config)
    setattr(owner, name, limited)
    try:
        return (yield)
    finally:
        setattr(owner, name, function)


def _holder(item: pytest.Function) -> tuple[Any, str]:
    """Where the function is that the item's test runner calls."""
    hypothesis = getattr(item.obj, "hypothesis", None)
    if inspect.iscoroutinefunction(getattr(hypothesis, "inner_test", None)):
        return hypothesis, "inner_test"
    return item, "obj"


# -- async ----------------------------------------------------------------------------------


def _limited(
    function: Callable[..., Coroutine[Any, Any, object]], limit: TimeLimit
) -> Callable[..., Coroutine[Any, Any, object]]:
    """`function`, cancelled at its time limit, which begins now, however often it is called.

    Whatever it does after that, be it that it returns, the trial has timed out. A `TimeoutError`
    that it raises before is its own.
    """
    end = time.monotonic() + limit.seconds

    @functools.wraps(function)
    async def limited(*arguments: object, **named: object) -> object:
        __tracebackhide__ = True
        body = functools.partial(function, *arguments, **named)
        on_asyncio = asyncio._get_running_loop() is not None  # noqa: SLF001 - tells without raising
        left_s = max(0.0, end - time.monotonic())
        return await (_on_asyncio if on_asyncio else _on_trio)(body, limit, left_s)

    return limited


async def _on_asyncio(body: _Body, limit: TimeLimit, left_s: float) -> object:
    __tracebackhide__ = True
    deadline = asyncio.timeout(left_s)
    end_s = time.monotonic() + left_s
    running = body()
    frame: FrameType | None = getattr(running, "cr_frame", None)

    def is_over() -> bool:
        # A body that blocked the loop past its time kept it from noticing.
        return deadline.expired() or time.monotonic() >= end_s

    try:
        with waiting_until(end_s):
            async with deadline:
                result = await running
    except (*_STOPS, asyncio.CancelledError):
        raise  # a cancellation of ours has become a TimeoutError
    except BaseException as error:
        if not is_over():
            raise
        cancelled = error.__cause__
        if isinstance(error, TimeoutError) and isinstance(cancelled, asyncio.CancelledError):
            # Where the body stood when it was cancelled.
            raise timeout_error(limit).with_traceback(cancelled.__traceback__) from None
        raise timeout_error(limit) from error
    if is_over():  # it swallowed its cancellation
        raise timeout_error(limit).with_traceback(_raised_in([frame] if frame else []))
    return result


async def _on_trio(body: _Body, limit: TimeLimit, left_s: float) -> object:
    __tracebackhide__ = True
    from anyio import move_on_after

    result: object = None
    with move_on_after(left_s) as deadline:
        try:
            result = await body()
        except Exception as error:
            if deadline.cancel_called:
                raise timeout_error(limit) from error
            raise
    if deadline.cancel_called:
        raise timeout_error(limit)
    return result


# -- sync -----------------------------------------------------------------------------------


class TimedBody:
    """A sync test's function, run in a thread and waited for no longer than its time limit.

    Attributes:
        function: The function itself.
        limit: Its limit.
    """

    def __init__(
        self, function: Callable[..., object], limit: TimeLimit, config: pytest.Config
    ) -> None:
        """Limit `function`, in the session of `config`."""
        functools.update_wrapper(self, function)
        self.function = function
        self.limit = limit
        self._config = config

    def __call__(self, **arguments: object) -> object:
        """Run the function to its end, or to its limit.

        Raises:
            TrialTimeoutError: If it takes longer.
            BaseException: Whatever the function raises before.
        """
        __tracebackhide__ = True
        body = LentBody(functools.partial(self.function, **arguments))
        ended = threading.Event()
        result: object = None
        failure: BaseException | None = None

        def run() -> None:
            __tracebackhide__ = True
            nonlocal result, failure
            try:
                result = body()
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
                failure = error
            ended.set()

        thread = threading.Thread(target=run, name="seatrial-trial", daemon=True)
        thread.start()  # in a copy of this context, as all threads that a trial starts
        try:
            in_time = ended.wait(min(self.limit.seconds, threading.TIMEOUT_MAX))
        except BaseException:  # Ctrl-C
            body.give_up(self._config)
            raise
        if not in_time:
            error = timeout_error(self.limit, thread.ident)
            body.give_up(self._config)
            raise error
        if failure is not None:
            try:
                raise failure
            finally:
                failure = None  # no cycle through its traceback
        return result


class LentBody:
    """A sync body on which its trial may give up while it runs."""

    def __init__(self, function: Callable[[], object]) -> None:
        """Let `function` work on the scope that is current where this is made."""
        scope = current_scope()
        assert scope is not None
        self._function = function
        self._scope = LentScope(scope)

    def __call__(self) -> object:
        """Run the function, in any thread, in a context that nobody else enters."""
        __tracebackhide__ = True
        token = bind(self._scope.as_scope())
        try:
            return self._function()
        finally:
            unbind(token)

    def give_up(self, config: pytest.Config) -> None:
        """Keep what the function has recorded, and see to it that it changes nothing any more."""
        self._scope.take_back()
        ignore_late_code(config)


def _stack_of(thread: int) -> TracebackType | None:
    """The stack of the `LentBody` that runs in the thread, as if something were raised there now."""
    frames: list[FrameType] = []
    frame = sys._current_frames().get(thread)  # noqa: SLF001 - documented, in spite of its name
    while frame is not None and frame.f_code is not LentBody.__call__.__code__:
        frames.append(frame)
        frame = frame.f_back
    if frame is None:
        return None  # it ended just now
    return _raised_in([*frames[:_INNER_FRAMES], *frames[_INNER_FRAMES:][-_OUTER_FRAMES:]])


def _raised_in(frames: list[FrameType]) -> TracebackType | None:
    """A traceback through these frames, innermost first, each where it stands."""
    traceback = None
    for frame in frames:
        traceback = TracebackType(traceback, frame, frame.f_lasti, frame.f_lineno or 0)
    return traceback
