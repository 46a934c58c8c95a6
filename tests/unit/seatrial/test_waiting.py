from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future

import pytest

from seatrial.scope import LentScope, TrialScope, bind
from seatrial.waiting import wait_for, waiting_by


def test_the_result_or_the_error_comes_through() -> None:
    good: Future[int] = Future()
    good.set_result(1)
    bad: Future[int] = Future()
    bad.set_exception(OSError("down"))

    assert wait_for(good) == 1
    with pytest.raises(OSError, match="down"):
        wait_for(bad)


def test_another_way_to_wait_is_used_first_in_every_thread_and_only_meanwhile() -> None:
    waited: list[int] = []

    def wait(future: Future[int]) -> None:
        waited.append(threading.get_ident())
        future.set_result(len(waited))

    with waiting_by(wait):
        assert wait_for(Future[int]()) == 1
        thread = threading.Thread(target=lambda: wait_for(Future[int]()))
        thread.start()
        thread.join(30)
    done: Future[int] = Future()
    done.set_result(7)

    assert wait_for(done) == 7
    assert len(set(waited)) == len(waited) == 2


def test_an_interrupted_wait_cancels_what_it_waited_for() -> None:
    def interrupted(future: Future[int]) -> None:
        raise KeyboardInterrupt

    future: Future[int] = Future()
    with waiting_by(interrupted), pytest.raises(KeyboardInterrupt):
        wait_for(future)

    assert future.cancelled()


def lent_thread(lent: LentScope, body: Callable[[], object]) -> threading.Thread:
    def run() -> None:
        bind(lent.as_scope())
        body()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_code_that_its_trial_gives_up_on_waits_no_longer_and_asks_nothing_more() -> None:
    lent = LentScope(TrialScope(key=None, nodeid="x"))
    begun = threading.Event()
    first: Future[int] = Future()
    second: Future[int] = Future()
    raised: list[type[BaseException]] = []

    def body() -> None:
        for future in (first, second):
            begun.set()
            try:
                wait_for(future)
            except CancelledError as error:
                raised.append(type(error))

    thread = lent_thread(lent, body)
    assert begun.wait(30)
    lent.take_back()
    thread.join(30)

    assert not thread.is_alive()
    assert raised == [CancelledError, CancelledError]
    assert first.cancelled()
    assert second.cancelled()
