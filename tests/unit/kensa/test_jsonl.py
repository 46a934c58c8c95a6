from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Link

from kensa.tracing import JSONLSpanExporter, instrument, record_tool_call, span_to_dict
from seatrial.errors import UsageError

pytestmark = pytest.mark.usefixtures("fresh_opentelemetry")


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KENSA_TRACE_DIR", "KENSA_TRACE_RUN_ID", "KENSA_SERVICE_NAME"):
        monkeypatch.delenv(name, raising=False)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def work(name: str = "search") -> None:
    with record_tool_call(name):
        pass


def test_without_a_folder_nothing_is_done() -> None:
    instrument()

    assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def test_each_span_is_written_once_however_often_one_asks(tmp_path: Path) -> None:
    instrument(tmp_path)
    instrument(str(tmp_path))
    instrument(tmp_path / "." / "")
    work()
    work("send")

    written = rows(tmp_path / "spans.jsonl")
    assert [row["name"] for row in written] == ["search", "send"]
    assert list(written[0]) == sorted(written[0])


def test_two_runs_have_two_files(tmp_path: Path) -> None:
    instrument(tmp_path, run_id="one")
    instrument(tmp_path, run_id="two")
    work()

    assert len(rows(tmp_path / "runs" / "one" / "spans.jsonl")) == 1
    assert len(rows(tmp_path / "runs" / "two" / "spans.jsonl")) == 1


def test_the_environment_says_where_and_for_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KENSA_TRACE_DIR", str(tmp_path / "traces"))
    monkeypatch.setenv("KENSA_TRACE_RUN_ID", "r1")
    monkeypatch.setenv("KENSA_SERVICE_NAME", "helpdesk")
    instrument()
    work()

    folder = tmp_path / "traces" / "runs" / "r1"
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert manifest.pop("created_at")
    assert manifest == {
        "schema_version": "kensa.trace_manifest.v1",
        "run_id": "r1",
        "source": "local-jsonl",
        "service_name": "helpdesk",
        "files": ["spans.jsonl"],
        "span_count": 1,
        "trace_count": 1,
        "redaction": {"raw_source": True},
    }


def test_only_the_user_may_read_and_git_ignores_it(tmp_path: Path) -> None:
    instrument(tmp_path / "traces", run_id="r1")
    work()

    folder = tmp_path / "traces" / "runs" / "r1"
    assert (tmp_path / "traces" / ".gitignore").read_text("utf-8") == "*\n"
    assert stat.S_IMODE((folder / "spans.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "manifest.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("run_id", ["..", ".", "../x", "a/b", "a\\b", "a\0b"])
def test_a_run_id_that_leaves_the_folder_is_refused(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a folder"):
        instrument(tmp_path, run_id=run_id)


def test_a_provider_that_takes_no_processors_is_refused(tmp_path: Path) -> None:
    trace.set_tracer_provider(trace.NoOpTracerProvider())

    with pytest.raises(UsageError, match="NoOpTracerProvider"):
        instrument(tmp_path)


def exported(path: Path, **options: Any) -> tuple[JSONLSpanExporter, trace.Tracer]:
    exporter = JSONLSpanExporter(path, **options)
    own = TracerProvider(shutdown_on_exit=False)
    own.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter, own.get_tracer("library", "1.2")


def test_a_row_holds_all_that_the_span_says(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    _, tracer = exported(path)
    elsewhere = trace.SpanContext(trace_id=1, span_id=2, is_remote=True)
    with tracer.start_as_current_span("outer"):
        inner = tracer.start_span(
            "inner", links=[Link(elsewhere, {"why": "x"})], attributes={"nan": float("nan")}
        )
        inner.add_event("note", {"n": 1}, timestamp=5)
        inner.set_status(trace.StatusCode.ERROR, "broke")
        inner.end()

    row, outer = rows(path)
    assert row["status"] == "error"
    assert row["status_message"] == "broke"
    assert row["parent_span_id"] == outer["span_id"]
    assert (len(row["trace_id"]), len(row["span_id"])) == (32, 16)
    assert row["attributes"] == {"nan": "nan"}
    assert row["events"] == [{"name": "note", "timestamp": 5, "attributes": {"n": 1}}]
    assert row["links"] == [
        {"trace_id": f"{1:032x}", "span_id": f"{2:016x}", "attributes": {"why": "x"}}
    ]
    assert row["instrumentation_scope"] == {
        "name": "library",
        "version": "1.2",
        "attributes": {},
    }
    assert row["resource_attributes"]["telemetry.sdk.language"] == "python"
    assert row["trace_state"] == {}
    assert outer["status"] == "ok"
    assert row["start_time_unix_nano"] <= row["end_time_unix_nano"]


def test_the_manifest_is_written_first_then_now_and_then_and_at_the_end(tmp_path: Path) -> None:
    exporter, tracer = exported(tmp_path / "s.jsonl", run_id="r", manifest_update_interval=3)
    counts = []
    for _ in range(5):
        tracer.start_span("work").end()
        counts.append(json.loads((tmp_path / "manifest.json").read_text("utf-8"))["span_count"])
    exporter.shutdown()

    assert counts == [1, 1, 1, 4, 4]
    assert json.loads((tmp_path / "manifest.json").read_text("utf-8"))["span_count"] == 5


def test_without_a_run_there_is_no_manifest(tmp_path: Path) -> None:
    exporter, tracer = exported(tmp_path / "s.jsonl")
    tracer.start_span("work").end()
    exporter.force_flush()

    assert [path.name for path in tmp_path.iterdir()] == ["s.jsonl"]


def test_an_interval_below_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="manifest_update_interval 0 is below 1"):
        JSONLSpanExporter(tmp_path / "s.jsonl", manifest_update_interval=0)


def test_text_that_is_no_unicode_is_written_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    _, tracer = exported(path)
    tracer.start_span("lone \ud800").end()

    assert rows(path)[0]["name"] == "lone \ud800"
    assert callable(span_to_dict)
