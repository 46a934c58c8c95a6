"""Ready adapters for agents in process, behind HTTP, and on the command line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rampart.adapters.http import HttpAdapter
    from rampart.adapters.in_process import CallableAdapter
    from rampart.adapters.process import ProcessAdapter

__all__ = ["CallableAdapter", "HttpAdapter", "ProcessAdapter"]

_MODULES = {
    "CallableAdapter": "in_process",
    "HttpAdapter": "http",
    "ProcessAdapter": "process",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
