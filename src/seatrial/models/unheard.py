"""Warnings of the libraries that talk to providers, kept from tests, which can do nothing about them.

Such a library warns, for one, when it leaves out a setting that a model does not take. In the
background loop's thread that would be one more warning of some test, or, where warnings are errors,
a judge that cannot answer. `warnings.catch_warnings` is no way out: what it changes is the whole
process's, and in other threads tests come and go meanwhile.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["unheard_warnings"]

_LIBRARIES = ("pydantic_ai", "openai", "anthropic")

_unheard: ContextVar[bool] = ContextVar("seatrial_unheard_warnings", default=False)


class _Warnings:
    """The module `warnings`, as those libraries see it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(warnings, name)

    def warn(self, *arguments: Any, stacklevel: int = 1, **named: Any) -> None:
        """Warn as ever, but where nobody is to hear it."""
        if not _unheard.get():
            warnings.warn(*arguments, stacklevel=stacklevel + 1, **named)  # type: ignore[call-overload]


_as_they_see_it = _Warnings()
_modules_seen = 0


@contextmanager
def unheard_warnings() -> Iterator[None]:
    """Let those libraries warn of nothing in the body, in this context and the tasks begun in it."""
    _reach_libraries()
    token = _unheard.set(True)
    try:
        yield
    finally:
        _unheard.reset(token)


def _reach_libraries() -> None:
    global _modules_seen  # noqa: PLW0603 - they load more modules as they go
    if len(sys.modules) == _modules_seen:
        return
    for name, module in sys.modules.copy().items():
        if name.partition(".")[0] in _LIBRARIES and vars(module).get("warnings") is warnings:
            vars(module)["warnings"] = _as_they_see_it
    _modules_seen = len(sys.modules)
