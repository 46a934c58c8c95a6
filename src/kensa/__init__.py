"""The evals face: what the agent must do, as pytest tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kensa.case import kensa_case
    from kensa.tracing import instrument, record_llm_call, record_span, record_tool_call

    __version__: str

__all__ = [
    "__version__",
    "instrument",
    "kensa_case",
    "record_llm_call",
    "record_span",
    "record_tool_call",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from seatrial.version import VERSION

        return VERSION
    if name == "kensa_case":
        from kensa.case import kensa_case

        return kensa_case
    if name in __all__:
        from kensa import tracing

        return getattr(tracing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
