"""`--dist=loadgroup` on a pytest with structured node ids, 9.2 and later.

xdist, up to 3.8 at least, marks a group by writing to an attribute that such a pytest no longer
reads, and tests of a group silently spread over all workers (pytest-xdist issue 1386). Here the
mark reaches the ids that a worker sends to xdist's scheduler, and only those.
"""

from __future__ import annotations

from typing import Any

import pytest

__all__: list[str] = []

_own_id_key = pytest.StashKey[Any]()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give grouped items the id that xdist meant them to have."""
    for item in items:
        marked = getattr(item, "_nodeid", None)
        own = getattr(item, "_id", None)
        if own is not None and isinstance(marked, str) and marked != item.nodeid:
            item.stash[_own_id_key] = own
            item._id = type(own).parse(marked)  # noqa: SLF001 - nothing public names a group to xdist


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Give the items their own ids back, now that xdist has sent the marked ones."""
    for item in session.items:
        if _own_id_key in item.stash:
            item._id = item.stash[_own_id_key]  # noqa: SLF001 - as above
