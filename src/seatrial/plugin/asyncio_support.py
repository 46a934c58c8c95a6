"""Async tests of ours run without configuration, whatever mode pytest-asyncio is in.

Only tests that carry a face's marker are touched; anyio's tests stay anyio's. What the user chose
for all other tests is left alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from seatrial.plugin.faces import loaded_faces

__all__: list[str] = []

_ALSO_OURS = ("harm",)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> None:
    """Mark an async test of ours for pytest-asyncio before pytest makes items of it."""
    function = getattr(obj, "__func__", obj)
    if not inspect.iscoroutinefunction(function):
        return
    if not collector.config.pluginmanager.hasplugin("asyncio"):
        return
    marks = set(_marks(collector, function))
    ours = {face.marker for face in loaded_faces(collector.config)} | set(_ALSO_OURS)
    if marks & ours and not marks & {"asyncio", "anyio", "trio"}:
        pytest.mark.asyncio(function)


def _marks(collector: pytest.Collector, function: object) -> Iterator[str]:
    own = getattr(function, "pytestmark", [])
    yield from (mark.name for mark in (own if isinstance(own, list) else [own]))
    yield from (mark.name for mark in collector.iter_markers())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Let pytest-asyncio run a plain async fixture when an async test of ours asks for it."""
    function = getattr(fixturedef.func, "__func__", fixturedef.func)
    is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    if is_async and _is_our_async_test(request) and not hasattr(function, _FORCED):
        # pytest-asyncio has no public way to adopt a fixture in strict mode after collection; this
        # is the attribute that its own decorator sets.
        setattr(function, _FORCED, True)
        try:
            return (yield)
        finally:
            delattr(function, _FORCED)
    return (yield)


_FORCED = "_force_asyncio_fixture"


def _is_our_async_test(request: pytest.FixtureRequest) -> bool:
    item = request._pyfuncitem  # noqa: SLF001 - a wide-scoped fixture's request.node is its scope, not the test
    markers = [face.marker for face in loaded_faces(request.config)]
    return item.get_closest_marker("asyncio") is not None and any(
        item.get_closest_marker(name) for name in (*markers, *_ALSO_OURS)
    )
