"""Which items may be in flight together, and why others run alone."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import pytest
from _pytest.scope import Scope

from seatrial.plugin.concurrency.unsafe import PROCESS_WIDE_FIXTURES
from seatrial.plugin.keys import plan_key

__all__ = ["Section", "is_sync", "reason_to_run_alone", "section_of"]

_LOOP_FACTORY = "_asyncio_loop_factory"


@dataclass(frozen=True, slots=True)
class Section:
    """What items must have in common to be in flight together.

    Attributes:
        parent: The collector; fixtures of module and class scope belong to it.
        parameters: Values of parameters of shared fixtures.
        filters: Arguments of `filterwarnings` marks, which hold for the process.
        loop_scope: Whose event loop the test runs on.
    """

    parent: pytest.Collector | None
    parameters: tuple[tuple[str, int], ...]
    filters: tuple[str, ...]
    loop_scope: str


def section_of(item: pytest.Item) -> Section | None:
    """What the item has in common with those that it may run together with, None if with nobody."""
    if plan_key not in item.stash or not isinstance(item, pytest.Function):
        return None
    if reason_to_run_alone(item) is not None:
        return None
    callspec = item.callspec
    return Section(
        parent=item.parent,
        parameters=tuple(
            (name, index)
            for name, index in callspec.indices.items()
            if callspec._arg2scope.get(name) is not Scope.Function
        ),
        filters=tuple(
            str(argument) for mark in item.iter_markers("filterwarnings") for argument in mark.args
        ),
        loop_scope=_shared_loop(item),
    )


def _shared_loop(item: pytest.Function) -> str:
    """The scope of the loop that the test runs on, where it would have one of its own: the session's."""
    scope = str(getattr(item, "_loop_scope", "function"))
    return "session" if scope == "function" else scope


def reason_to_run_alone(item: pytest.Function) -> str | None:
    """Why a trial cannot be in flight together with others, in words for the summary."""
    plan = item.stash[plan_key]
    if plan.concurrency == 1:
        return "concurrency=1 on the marker"
    names = set(item.fixturenames)
    own = set(item.config.getini("trial_process_wide_fixtures"))
    unsafe = sorted(names & (PROCESS_WIDE_FIXTURES | own))
    if unsafe:
        return f"uses process-wide fixture {', '.join(unsafe)}"
    if _LOOP_FACTORY in item.callspec.params:
        return "its event loop comes from pytest_asyncio_loop_factories"
    if hasattr(item.obj, "patchings"):
        return "is decorated with unittest.mock.patch"
    if getattr(item.obj, "is_hypothesis_test", False):
        return "is a hypothesis test"
    backend = item.callspec.params.get("anyio_backend")
    if backend is not None and "asyncio" not in str(backend):
        return "runs on another async library than asyncio"
    return None


def is_sync(item: pytest.Function) -> bool:
    """Whether the test is plain sync code, which may block the thread that it runs in."""
    return not inspect.iscoroutinefunction(inspect.unwrap(item.obj))
