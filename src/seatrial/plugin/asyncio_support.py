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


# pytest-asyncio has no public way to adopt a fixture in strict mode after collection; this is the
# attribute that its own decorator sets, and that it looks for at set-up and again at the call.
_ADOPTED = "_force_asyncio_fixture"
_adopted_key = pytest.StashKey[list[Any]]()


# A wrapper, since pytest-asyncio's is one: it must find the fixture adopted.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Let pytest-asyncio run a plain async fixture when an async test of ours asks for it."""
    function = getattr(fixturedef.func, "__func__", fixturedef.func)
    is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    if is_async and not hasattr(function, _ADOPTED) and _is_our_async_test(request):
        setattr(function, _ADOPTED, True)
        item = request._pyfuncitem  # noqa: SLF001 - see _is_our_async_test
        item.stash.setdefault(_adopted_key, []).append(function)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Give adopted fixtures back: another test may ask another async plugin to run them."""
    try:
        return (yield)
    finally:
        for function in item.stash.get(_adopted_key, []):
            if hasattr(function, _ADOPTED):
                delattr(function, _ADOPTED)


def _is_our_async_test(request: pytest.FixtureRequest) -> bool:
    item = request._pyfuncitem  # noqa: SLF001 - a wide-scoped fixture's request.node is its scope, not the test
    markers = [face.marker for face in loaded_faces(request.config)]
    return item.get_closest_marker("asyncio") is not None and any(
        item.get_closest_marker(name) for name in (*markers, *_ALSO_OURS)
    )
