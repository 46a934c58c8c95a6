"""Async tests of ours run without configuration, whatever mode pytest-asyncio is in.

Ours are tests that carry a face's marker, or whose module imports from a face. Tests that ask for
anyio or trio stay theirs, and what the user chose for all other tests is left alone.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import pytest

from seatrial.plugin.faces import loaded_faces

__all__: list[str] = []

_ALSO_OURS = ("harm",)
_imports_key = pytest.StashKey[dict[str, bool]]()


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
    if marks & {"asyncio", "anyio", "trio"}:
        return
    if marks & _our_markers(collector.config) or _imports_a_face(
        collector.config, collector.module
    ):
        pytest.mark.asyncio(function)


def _our_markers(config: pytest.Config) -> set[str]:
    return {face.marker for face in loaded_faces(config)} | set(_ALSO_OURS)


def _imports_a_face(config: pytest.Config, module: ModuleType) -> bool:
    """Whether the module has a name from a face: the documents' examples need no more than that."""
    known = config.stash.setdefault(_imports_key, {})
    if module.__name__ not in known:
        names = {face.name for face in loaded_faces(config)}
        packages = (
            getattr(value, "__module__", None) or getattr(value, "__name__", "")
            for value in vars(module).values()
        )
        known[module.__name__] = any(
            isinstance(package, str) and package.partition(".")[0] in names for package in packages
        )
    return known[module.__name__]


def _marks(collector: pytest.Collector, function: object) -> Iterator[str]:
    own = getattr(function, "pytestmark", [])
    yield from (mark.name for mark in (own if isinstance(own, list) else [own]))
    yield from (mark.name for mark in collector.iter_markers())


# pytest-asyncio has no public way to adopt a fixture in strict mode after collection; this is the
# attribute that its own decorator sets, and that it looks for at set-up and again at the call.
_ADOPTED = "_force_asyncio_fixture"
_ASYNC_CODE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_adopted_key = pytest.StashKey[list[Any]]()
_users_key = pytest.StashKey[Counter[Any]]()


# A wrapper, since pytest-asyncio's is one: it must find the fixture adopted.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Let pytest-asyncio run a plain async fixture that an async test of ours asks for by name.

    For no other test: one that has adopted the fixture may be in flight beside it.
    """
    if not _is_async(fixturedef.func):
        return (yield)
    item = request._pyfuncitem  # noqa: SLF001 - a wide-scoped fixture's request.node is its scope, not the test
    if _is_our_async_test(item):
        _adopt(item, fixturedef.func)
        return (yield)
    with _not_adopted(item, fixturedef.func):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Adopt the async fixtures of an async test of ours, and give them back afterwards.

    Another test may ask another async plugin to run them.
    """
    if isinstance(item, pytest.Function):
        for definitions in item._fixtureinfo.name2fixturedefs.values():  # noqa: SLF001 - nothing public names them
            if _is_async(definitions[-1].func) and _is_our_async_test(item):
                _adopt(item, definitions[-1].func)
    try:
        return (yield)
    finally:
        _give_back(item)


def _adopt(item: pytest.Item, fixture: Any) -> None:
    function = getattr(fixture, "__func__", fixture)
    mine = item.stash.setdefault(_adopted_key, [])
    users = item.config.stash.setdefault(_users_key, Counter())
    if hasattr(function, _ADOPTED) and function not in users:
        return  # pytest-asyncio's own decorator set it
    setattr(function, _ADOPTED, True)
    if function in mine:
        return
    users[function] += 1  # several tests that use it may be in flight
    mine.append(function)


def _give_back(item: pytest.Item) -> None:
    mine = item.stash.get(_adopted_key, None)
    if mine is None:
        return
    del item.stash[_adopted_key]
    users = item.config.stash[_users_key]
    for function in mine:
        users[function] -= 1
        if not users[function]:
            del users[function]
            vars(function).pop(_ADOPTED, None)


@contextmanager
def _not_adopted(item: pytest.Function, fixture: Any) -> Iterator[None]:
    """Keep an adoption of other tests from the one that sets the fixture up in the body."""
    function = getattr(fixture, "__func__", fixture)
    users = item.config.stash.get(_users_key, None)
    if not users or function not in users:
        yield
        return
    vars(function).pop(_ADOPTED, None)
    try:
        yield
    finally:
        if function in users:
            setattr(function, _ADOPTED, True)


def _is_async(fixture: Any) -> bool:
    function = getattr(fixture, "__func__", fixture)
    if isinstance(function, FunctionType):  # asked at every test: almost all are
        return bool(function.__code__.co_flags & _ASYNC_CODE)
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _is_our_async_test(item: pytest.Function) -> bool:
    if item.get_closest_marker("asyncio") is None:
        return False
    marked = any(item.get_closest_marker(name) for name in _our_markers(item.config))
    return marked or _imports_a_face(item.config, item.module)
