"""Explanations of failed assertions, and the variable that names the running test.

pytest enters both once per item, for the process. Items in flight together have the same hooks, so
they are entered once for all of them.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import _pytest.assertion
import _pytest.runner
import pytest
from _pytest.assertion import util

from seatrial.plugin.concurrency.patches import replaced
from seatrial.plugin.concurrency.slot import slot_of_context

__all__ = ["explain_assertions", "name_current_tests"]

_VARIABLE = "PYTEST_CURRENT_TEST"


@contextmanager
def explain_assertions(item: pytest.Item) -> Iterator[None]:
    """Explain failed assertions as for `item` while the body runs."""
    if not item.config.pluginmanager.hasplugin("assertion"):
        yield
        return
    wrapper: Generator[None, Any, Any] = _pytest.assertion.pytest_runtest_protocol(item)
    next(wrapper)
    try:
        if vars(util).get("_assertion_pass") is None:
            yield
        else:
            with replaced(util, "_assertion_pass", _tell_passed):
                yield
    finally:
        with suppress(StopIteration):
            wrapper.send(None)


def _tell_passed(lineno: int, orig: str, expl: str) -> None:
    slot = slot_of_context()
    if slot is not None:
        slot.item.ihook.pytest_assertion_pass(item=slot.item, lineno=lineno, orig=orig, expl=expl)


@contextmanager
def name_current_tests(item: pytest.Item) -> Iterator[None]:
    """Let `PYTEST_CURRENT_TEST` name what the tests in flight have in common while the body runs."""

    def update(item: pytest.Item, when: str | None) -> None:
        pass

    assert item.parent is not None
    os.environ[_VARIABLE] = f"{item.parent.nodeid} (several at once)"
    try:
        with replaced(_pytest.runner, "_update_current_test_var", update):
            yield
    finally:
        os.environ.pop(_VARIABLE, None)
