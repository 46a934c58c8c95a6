"""OpenTelemetry's spans as ours: kinds by convention, attributes as bounded JSON."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode, format_span_id, format_trace_id

from seatrial.snapshot import Json, JsonObject, snapshot
from seatrial.trace import Span

__all__ = ["MAX_ITEMS", "MAX_TEXT", "bounded", "convert"]

MAX_TEXT = 100_000
"""Characters that one attribute's text may have; the rest is dropped and counted."""

MAX_ITEMS = 1_000
"""Items that one attribute's sequence may have; the rest is dropped and counted."""

_TOOL_NAMES = ("kensa.tool.name", "tool.name", "gen_ai.tool.name", "openinference.tool.name")

# OpenTelemetry's GenAI conventions: gen_ai.operation.name.
_OPERATION_KINDS = {
    "chat": "llm",
    "text_completion": "llm",
    "generate_content": "llm",
    "execute_tool": "tool",
    "embeddings": "embedding",
    "invoke_agent": "agent",
    "create_agent": "agent",
}


def convert(span: ReadableSpan) -> Span:
    """A copy of the span as it is now; open spans have no end and the status "open"."""
    attributes = bounded(span.attributes or {})
    kind, tool_name = _kind_and_tool(span.name, attributes)
    context = span.get_span_context()
    if span.end_time is None:
        status = "open"
    else:
        status = "error" if span.status.status_code is StatusCode.ERROR else "ok"
    return Span(
        name=_cut(span.name),
        kind=kind,
        tool_name=tool_name,
        trace_id=format_trace_id(context.trace_id) if context else "",
        span_id=format_span_id(context.span_id) if context else "",
        parent_span_id=format_span_id(span.parent.span_id) if span.parent else None,
        start_ns=span.start_time,
        end_ns=span.end_time,
        status=status,
        attributes=attributes,
    )


def _kind_and_tool(name: str, attributes: JsonObject) -> tuple[str, str | None]:
    tool = next((text for text in map(attributes.get, _TOOL_NAMES) if _is_text(text)), None)
    operation = _OPERATION_KINDS.get(str(attributes.get("gen_ai.operation.name")))
    stated = attributes.get("kensa.span.kind") or attributes.get("openinference.span.kind")
    if isinstance(stated, str) and stated:
        kind = stated.lower()
    elif operation is not None:
        kind = operation
    elif tool is not None:
        kind = "tool"
    elif "gen_ai.request.model" in attributes:
        # Instrumentations older than gen_ai.operation.name.
        kind = "llm"
    else:
        kind = "span"
    if kind == "tool" and tool is None:
        # Both conventions name the span of a call after its tool.
        tool = name.removeprefix("execute_tool ")
    return kind, str(tool) if tool is not None else None


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and value != ""


def bounded(attributes: Mapping[str, object]) -> JsonObject:
    """A JSON copy of the attributes, each cut at `MAX_TEXT` characters or `MAX_ITEMS` items."""
    # An open span's attributes may change meanwhile, in another thread; `get` survives that.
    return {_cut(str(name)): _bounded_value(attributes.get(name)) for name in attributes}


def _bounded_value(value: object) -> Json:
    if isinstance(value, (list, tuple)):
        items: list[Json] = [_bounded_value(item) for item in value[:MAX_ITEMS]]
        if len(value) > MAX_ITEMS:
            items.append(f"[{len(value) - MAX_ITEMS} more items dropped]")
        return items
    copy = snapshot(value)
    return _cut(copy) if isinstance(copy, str) else copy


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}… [{len(text) - MAX_TEXT} more characters dropped]"
