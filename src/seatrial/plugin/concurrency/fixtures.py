"""Fixtures of items in flight: function-scoped ones are each item's own, wider ones are shared.

pytest keeps a fixture's value in its definition, of which there is one for all items. So each item
gets copies of the definitions that belong to it alone. Shared ones are set up by one item at a time,
in the context that the whole session shares.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import replace
from typing import Any

import _pytest.fixtures
import pytest
from _pytest.fixtures import FixtureDef, FixtureRequest
from _pytest.scope import Scope

from seatrial.plugin.concurrency.event_loops import share_session_loop
from seatrial.plugin.concurrency.hub import Hub
from seatrial.plugin.concurrency.patches import replaced
from seatrial.plugin.concurrency.slot import Slot, slot_of_context
from seatrial.plugin.concurrency.unsafe import refuse_dynamic_fixture, refuse_open_filters
from seatrial.scope import bind, current_scope, unbind

__all__ = ["ItemFixtures"]

_execute = FixtureDef.execute
_finish = FixtureDef.finish
_getfixturevalue = FixtureRequest.getfixturevalue
_call_fixture_func = _pytest.fixtures.call_fixture_func
_teardown_yield_fixture = _pytest.fixtures._teardown_yield_fixture


class ItemFixtures:
    """Gives every item in flight its own fixtures, and lets one at a time set a shared one up."""

    def __init__(self, hub: Hub, session: pytest.Session, in_flight: list[Slot]) -> None:
        self._hub = hub
        self._in_flight = in_flight
        self._manager = session._fixturemanager
        self._getfixturedefs = self._manager.getfixturedefs
        # Shared ones that hold the value for this section's parameters, and so do all they need.
        self._settled: set[FixtureDef[Any]] = set()
        self._gate_owner: Slot | None = None
        self._gate_queue: list[Slot] = []

    @contextmanager
    def routed(self) -> Iterator[None]:
        """Route pytest's fixtures while the body runs."""
        with ExitStack() as stack:
            for owner, name, value in (
                (self._manager, "getfixturedefs", self._own_fixturedefs),
                (FixtureDef, "execute", self._executing()),
                (FixtureDef, "finish", self._finishing()),
                (FixtureRequest, "getfixturevalue", self._getting()),
                (_pytest.fixtures, "call_fixture_func", self._call_fixture_func),
                (_pytest.fixtures, "_teardown_yield_fixture", self._teardown_yield_fixture),
            ):
                stack.enter_context(replaced(owner, name, value))
            yield

    @contextmanager
    def own(self, slot: Slot) -> Iterator[None]:
        """Give an item its own copies of function-scoped definitions while the body runs."""
        item = slot.item
        info = item._fixtureinfo
        own = {
            name: self._copies(slot, name, definitions)
            for name, definitions in info.name2fixturedefs.items()
        }
        item._fixtureinfo = replace(info, name2fixturedefs=own)
        item._initrequest()
        try:
            yield
        finally:
            item._fixtureinfo = info
            slot.fixture_copies.clear()

    def _own_fixturedefs(self, argname: str, node: Any) -> Sequence[FixtureDef[Any]] | None:
        definitions = self._getfixturedefs(argname, node)
        slot = self._hub.running
        if slot is None or not definitions:
            return definitions
        refuse_dynamic_fixture(slot, argname)
        return self._copies(slot, argname, definitions)

    def _copies(
        self, slot: Slot, name: str, definitions: Sequence[FixtureDef[Any]]
    ) -> Sequence[FixtureDef[Any]]:
        return tuple(self._copy(slot, name, definition) for definition in definitions)

    def _copy(self, slot: Slot, name: str, definition: FixtureDef[Any]) -> FixtureDef[Any]:
        known = slot.fixture_copies.get(definition)
        if known is not None:
            return known  # type: ignore[no-any-return]
        if _effective_scope(slot.item, name, definition) is not Scope.Function:
            return definition
        own: Any = copy.copy(definition)
        own.cached_result = None
        own._finalizers = []
        share_session_loop(slot, own)
        slot.fixture_copies[definition] = own
        slot.own_fixtures.add(id(own))
        return own  # type: ignore[no-any-return]

    def _executing(self) -> Callable[[FixtureDef[Any], Any], Any]:
        def execute(definition: FixtureDef[Any], request: Any) -> Any:
            __tracebackhide__ = True
            slot = self._slot_for(definition)
            is_ready = definition in self._settled and definition.cached_result is not None
            if slot is None or is_ready:
                return _execute(definition, request)
            value = self._shared(slot, lambda: _execute(definition, request))
            self._settled.add(definition)
            return value

        return execute

    def _finishing(self) -> Callable[[FixtureDef[Any], Any], None]:
        def finish(definition: FixtureDef[Any], request: Any) -> None:
            __tracebackhide__ = True
            slot = self._slot_for(definition)
            if slot is None or definition.cached_result is None:
                _finish(definition, request)
            else:
                self._shared(slot, lambda: _finish(definition, request))

        return finish

    def _slot_for(self, definition: FixtureDef[Any]) -> Slot | None:
        """The running item, if the definition is one that it shares with others."""
        slot = self._hub.running if self._hub.is_here() else None
        return None if slot is None or id(definition) in slot.own_fixtures else slot

    def _shared(self, slot: Slot, function: Callable[[], Any]) -> Any:
        __tracebackhide__ = True
        if self._gate_owner is slot:
            return function()
        if self._gate_owner is not None:
            self._gate_queue.append(slot)
            self._hub.wait(lambda: self._gate_owner is None or self._gate_owner is slot)
        self._gate_owner = slot
        slot.shared_depth += 1
        scope = current_scope()
        changed: dict[ContextVar[Any], Any] = {}

        def in_trial() -> Any:
            __tracebackhide__ = True
            token = bind(scope) if scope is not None else None
            before = copy_context()
            try:
                return function()
            finally:
                after = copy_context()
                changed.update(
                    (name, value)
                    for name, value in after.items()
                    if name not in before or before[name] is not value
                )
                if token is not None:
                    unbind(token)

        try:
            return self._hub.call_in_main_context(in_trial)
        finally:
            for name, value in changed.items():
                name.set(value)
                for other in self._in_flight:
                    _set_in(other, name, value)
            slot.shared_depth -= 1
            self._gate_owner = self._gate_queue.pop(0) if self._gate_queue else None
            if self._gate_owner is not None:
                self._hub.wake(self._gate_owner)

    def _getting(self) -> Callable[[FixtureRequest, str], Any]:
        def getfixturevalue(request: FixtureRequest, argname: str) -> Any:
            __tracebackhide__ = True
            slot = slot_of_context()
            if slot is not None and slot.thread is not None and slot.thread.is_current():
                return slot.thread.ask(lambda: _getfixturevalue(request, argname))
            if slot is not None and self._hub.running is None and self._hub.is_main_thread():
                with self._hub.lent_to(slot):
                    return _getfixturevalue(request, argname)
            running = self._hub.running if self._hub.is_here() else None
            if running is None:
                return _getfixturevalue(request, argname)
            # What runs from here on is pytest's, until it calls another fixture.
            depth, running.fixture_depth = running.fixture_depth, 0
            try:
                return _getfixturevalue(request, argname)
            finally:
                running.fixture_depth = depth

        return getfixturevalue

    def _call_fixture_func(
        self,
        function: Callable[..., Any],
        request: FixtureRequest,
        arguments: dict[str, Any],
    ) -> Any:
        __tracebackhide__ = True
        return self._in_user_code(
            function, lambda: _call_fixture_func(function, request, arguments)
        )

    def _teardown_yield_fixture(self, function: Callable[..., Any], iterator: Any) -> None:
        __tracebackhide__ = True
        self._in_user_code(function, lambda: _teardown_yield_fixture(function, iterator))

    def _in_user_code(self, function: Callable[..., Any], call: Callable[[], Any]) -> Any:
        """Run a fixture of an item's own: in the item's thread, if the test is a sync one."""
        __tracebackhide__ = True
        slot = self._hub.running if self._hub.is_here() else None
        if slot is None or _is_of_a_plugin(function) or _is_async(function):
            return call()
        if slot.shared_depth:
            return self._counted(slot, call)
        if slot.thread is not None:
            return slot.thread.call_fixture(call)
        filters = warnings.filters
        value = self._counted(slot, call)
        refuse_open_filters(filters)
        return value

    def _counted(self, slot: Slot, call: Callable[[], Any]) -> Any:
        __tracebackhide__ = True
        slot.fixture_depth += 1
        try:
            return call()
        finally:
            slot.fixture_depth -= 1


def _set_in(slot: Slot, name: ContextVar[Any], value: Any) -> None:
    """Let an item that started earlier see what a shared fixture set."""
    if slot.context is not None:
        with suppress(RuntimeError):  # its thread is in the context: the test runs already
            slot.context.run(name.set, value)


def _effective_scope(item: pytest.Function, name: str, definition: FixtureDef[Any]) -> Scope:
    callspec = getattr(item, "callspec", None)
    scope = definition._scope
    if callspec is not None and name in callspec.params:
        scope = callspec._arg2scope.get(name, scope)
    if scope is Scope.Class and item.getparent(pytest.Class) is None:
        return Scope.Function
    return scope


def _is_of_a_plugin(function: Callable[..., Any]) -> bool:
    """Whether a fixture is pytest's, or one that makes event loops or our trials."""
    module = getattr(function, "__module__", None) or ""
    return module.startswith(("_pytest.", "pytest_asyncio.", "anyio.", "seatrial.plugin."))


def _is_async(function: Callable[..., Any]) -> bool:
    inner = inspect.unwrap(function)
    return inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner)
