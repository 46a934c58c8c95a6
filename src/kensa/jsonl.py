"""Spans as JSON lines in a private file, with a manifest that says what they are."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from seatrial.capture.conversion import bounded
from seatrial.capture.provider import ReadableSpan, SpanExporter, SpanExportResult, export_to
from seatrial.errors import UsageError
from seatrial.files import make_private_folder, write_atomic
from seatrial.snapshot import Json, JsonObject

__all__ = ["JSONLSpanExporter", "instrument_from", "span_to_dict"]

_MANIFEST_SCHEMA = "kensa.trace_manifest.v1"


def span_to_dict(span: ReadableSpan) -> JsonObject:
    """A finished span as one row of the file; long attributes are cut."""
    context = span.get_span_context()
    scope = span.instrumentation_scope
    return {
        "name": span.name,
        "trace_id": f"{context.trace_id:032x}" if context else "",
        "span_id": f"{context.span_id:016x}" if context else "",
        "parent_span_id": f"{span.parent.span_id:016x}" if span.parent else None,
        "start_time_unix_nano": span.start_time,
        "end_time_unix_nano": span.end_time,
        "status": "error" if span.status.status_code.name == "ERROR" else "ok",
        "status_message": span.status.description,
        "attributes": _attributes(span.attributes),
        "resource_attributes": _attributes(span.resource.attributes),
        "instrumentation_scope": {
            "name": scope.name if scope else None,
            "version": scope.version if scope else None,
            "attributes": _attributes(scope.attributes if scope else None),
        },
        "events": [
            {
                "name": event.name,
                "timestamp": event.timestamp,
                "attributes": _attributes(event.attributes),
            }
            for event in span.events
        ],
        "links": [
            {
                "trace_id": f"{link.context.trace_id:032x}",
                "span_id": f"{link.context.span_id:016x}",
                "attributes": _attributes(link.attributes),
            }
            for link in span.links
        ],
        "trace_state": dict(context.trace_state) if context else {},
    }


def _attributes(attributes: Mapping[str, object] | None) -> Json:
    return bounded(attributes or {})


class JSONLSpanExporter(SpanExporter):
    """Appends finished spans to a file that only the user may read.

    With a run id, `manifest.json` beside the file counts what is in it. It is rewritten at the
    first batch, then every `manifest_update_interval` batches, and when the exporter is flushed
    or shut down, so in between its counts lag.

    Args:
        output_path: The file; its folder must exist.
        run_id: Names the run in the manifest; without it there is no manifest.
        service_name: Names the application in the manifest.
        source: Where the spans come from, for the manifest.
        manifest_update_interval: Batches between two manifests, at least 1.
    """

    def __init__(
        self,
        output_path: str | Path,
        *,
        run_id: str | None = None,
        service_name: str | None = None,
        source: str = "local-jsonl",
        manifest_update_interval: int = 100,
    ) -> None:
        if manifest_update_interval < 1:
            raise UsageError(
                f"manifest_update_interval {manifest_update_interval!r} is below 1 batch"
            )
        self._path = Path(output_path)
        self._run_id = run_id
        self._service_name = service_name
        self._source = source
        self._interval = manifest_update_interval
        self._created_at = datetime.now(UTC).isoformat()
        self._lock = threading.Lock()
        self._batches = 0
        self._spans = 0
        self._traces: set[str] = set()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Append one line per span, in one write."""
        rows = [span_to_dict(span) for span in spans]
        lines = "".join(json.dumps(row, sort_keys=True, allow_nan=False) + "\n" for row in rows)
        with self._lock:
            self._append(lines)
            self._spans += len(rows)
            self._traces.update(str(row["trace_id"]) for row in rows)
            if self._batches % self._interval == 0:
                self._write_manifest()
            self._batches += 1
        return SpanExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Bring the manifest up to date; the lines are written already."""
        del timeout_millis  # one small file, written at once
        with self._lock:
            self._write_manifest()
        return True

    def shutdown(self) -> None:
        """Bring the manifest up to date for the last time."""
        self.force_flush()

    def _append(self, lines: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with os.fdopen(os.open(self._path, flags, 0o600), "a", encoding="utf-8") as file:
            file.write(lines)

    def _write_manifest(self) -> None:
        if self._run_id is None or self._spans == 0:
            return
        manifest = {
            "schema_version": _MANIFEST_SCHEMA,
            "run_id": self._run_id,
            "created_at": self._created_at,
            "source": self._source,
            "service_name": self._service_name,
            "files": [self._path.name],
            "span_count": self._spans,
            "trace_count": len(self._traces),
            "redaction": {"raw_source": True},
        }
        text = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
        write_atomic(self._path.parent / "manifest.json", text)


_lock = threading.Lock()
_instrumented: set[Path] = set()


def instrument_from(
    trace_dir: str | Path | None, *, run_id: str | None, service_name: str | None
) -> None:
    """What `kensa.tracing.instrument` does."""
    folder = str(trace_dir) if trace_dir else os.environ.get("KENSA_TRACE_DIR", "")
    if not folder:
        return
    run_id = run_id or os.environ.get("KENSA_TRACE_RUN_ID") or None
    service_name = service_name or os.environ.get("KENSA_SERVICE_NAME") or None
    if run_id is not None and (run_id in (".", "..") or any(c in run_id for c in "/\\\0")):
        raise UsageError(f"the trace's run id {run_id!r} cannot be the name of a folder")
    with _lock:
        path = make_private_folder(Path(folder)).resolve()
        if run_id is not None:
            path = path / "runs" / run_id
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = path / "spans.jsonl"
        if path in _instrumented:
            return
        exporter = JSONLSpanExporter(path, run_id=run_id, service_name=service_name)
        failure = export_to(exporter)
        if failure is not None:
            raise UsageError(f"spans cannot be written to {path}: {failure}")
        _instrumented.add(path)
