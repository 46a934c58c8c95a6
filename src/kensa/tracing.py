"""Recording what an agent does: its model calls, its tool calls, and anything else worth a span."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seatrial.capture import record_span as _record_span

if TYPE_CHECKING:
    from kensa.jsonl import JSONLSpanExporter, span_to_dict

__all__ = [
    "JSONLSpanExporter",
    "instrument",
    "record_llm_call",
    "record_span",
    "record_tool_call",
    "span_to_dict",
]


def __getattr__(name: str) -> Any:
    # These two load OpenTelemetry, which a test run without traces never needs.
    if name in ("JSONLSpanExporter", "span_to_dict"):
        from kensa import jsonl

        return getattr(jsonl, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@contextmanager
def record_span(name: str, **attributes: Any) -> Iterator[None]:
    """A span around the body; an exception marks it as failed and passes through.

    Args:
        name: What happens in the body.
        attributes: Dotted names go through `**{"app.step": 1}`. Values that are neither text nor
            scalar become JSON text; None is left out.
    """
    with _record_span(name, attributes):
        yield


@contextmanager
def record_tool_call(name: str, **attributes: Any) -> Iterator[None]:
    """A call of the tool `name`, as `kensa_trace.tools` sees it; otherwise like `record_span`."""
    attributes = {"kensa.span.kind": "tool", "kensa.tool.name": name, **attributes}
    with _record_span(name, attributes):
        yield


@contextmanager
def record_llm_call(
    name: str = "llm.call",
    *,
    provider: str | None = None,
    model: str | None = None,
    **attributes: Any,
) -> Iterator[None]:
    """One turn of a language model; otherwise like `record_span`.

    Its cost, when known, goes in as `**{"kensa.cost_usd": 0.01}`.

    Args:
        name: The span's name.
        provider: Who runs the model, such as "openai".
        model: Which model was asked.
        attributes: As in `record_span`.
    """
    attributes = {
        "kensa.span.kind": "llm",
        "kensa.llm.provider": provider,
        "gen_ai.system": provider,
        "gen_ai.provider.name": provider,
        "kensa.llm.model": model,
        "gen_ai.request.model": model,
        **attributes,
    }
    with _record_span(name, attributes):
        yield


def instrument(
    trace_dir: str | Path | None = None,
    *,
    run_id: str | None = None,
    service_name: str | None = None,
) -> None:
    """Write every span of this process to a JSONL file, one object per line.

    The file is `<trace_dir>/spans.jsonl`, or `<trace_dir>/runs/<run_id>/spans.jsonl` with a
    `manifest.json` beside it. Only the user may read it, and git ignores it. Calling again with
    the same folder and run changes nothing.

    Args:
        trace_dir: Where to write; without it `KENSA_TRACE_DIR`. Without either, nothing is done.
        run_id: Without it `KENSA_TRACE_RUN_ID`. Becomes the name of a folder.
        service_name: For the manifest; without it `KENSA_SERVICE_NAME`.

    Raises:
        UsageError: If the run's id cannot name a folder, or the application's tracer provider
            takes no span processors.
        OSError: If the folder cannot be made.
    """
    from kensa.jsonl import instrument_from

    instrument_from(trace_dir, run_id=run_id, service_name=service_name)
