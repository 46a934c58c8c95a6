"""Set-up and tear-down of many items at once: they share their collectors and own the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from _pytest.outcomes import TEST_OUTCOME
from _pytest.runner import SetupState

from seatrial.plugin.concurrency.hub import Hub

__all__ = ["SectionSetupState"]


class SectionSetupState(SetupState):
    """Stands in for the session's own while items with the same parent are in flight.

    Collectors stay in the session's stack. Each item has one entry here, which leaves with the item;
    the last item tears them down in its own tear-down, as without concurrency.
    """

    def __init__(
        self, hub: Hub, shared: SetupState, is_last: Callable[[], tuple[bool, pytest.Item | None]]
    ) -> None:
        """Stand in for `shared`.

        Args:
            hub: Knows which item is calling.
            shared: The session's own.
            is_last: Whether the running item, torn down but for what it shares, is the last one,
                and which item runs next then. May wait for others.
        """
        super().__init__()
        self._hub = hub
        self._shared = shared
        self._is_last = is_last
        self._own: dict[pytest.Item, SetupState] = {}

    @property
    def stack(self) -> dict[Any, Any]:
        """All that is set up now: collectors first."""
        merged = dict(self._shared.stack)
        for own in self._own.values():
            merged.update(own.stack)
        return merged

    @stack.setter
    def stack(self, value: dict[Any, Any]) -> None:
        assert not value, "pytest starts with an empty stack and never replaces it"

    def is_node_active(self, node: Any) -> bool:
        """Whether the node is set up and not torn down yet."""
        return node in self._shared.stack or (node in self._own and bool(self._own[node].stack))

    def setup(self, item: pytest.Item) -> None:
        """Set up the collectors that nobody has set up yet, then the item."""
        assert item.parent is not None
        self._shared.setup(cast("pytest.Item", item.parent))
        own = self._own[item] = SetupState()
        own.stack[item] = ([item.teardown], None)
        try:
            item.setup()
        except TEST_OUTCOME as error:
            own.stack[item] = (own.stack[item][0], (error, error.__traceback__))
            raise

    def addfinalizer(self, finalizer: Callable[[], object], node: Any) -> None:
        """Attach a finalizer to a node that is set up."""
        own = self._own.get(node)
        (self._shared if own is None else own).addfinalizer(finalizer, node)

    def teardown_exact(self, nextitem: pytest.Item | None) -> None:
        """Tear the running item down, and its collectors if it is the last one.

        `nextitem` means nothing here: only the last item has a next one.
        """
        slot = self._hub.running
        assert slot is not None
        errors: list[BaseException] = []
        own = self._own.get(slot.item)
        if own is not None:
            try:
                own.teardown_exact(None)
            except TEST_OUTCOME as error:
                errors.append(error)
            finally:
                del self._own[slot.item]
        is_last, following = self._is_last()
        if is_last:
            try:
                self._shared.teardown_exact(following)
            except TEST_OUTCOME as error:
                errors.append(error)
        if len(errors) > 1:
            raise BaseExceptionGroup("errors during test teardown", errors[::-1])
        if errors:
            raise errors[0]

    def leave(self) -> None:
        """Give what nobody tore down back to the session, which does it at its end."""
        for own in self._own.values():
            self._shared.stack.update(own.stack)
        self._own.clear()
