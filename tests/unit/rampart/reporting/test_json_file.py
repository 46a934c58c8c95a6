from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from rampart import (
    EvalOutcome,
    EvalResult,
    InjectionRecord,
    ObservabilityLevel,
    Payload,
    Request,
    Response,
    Result,
    SafetyStatus,
    SideEffect,
    ToolCall,
    Turn,
)
from rampart.reporting import JsonFileReportSink, TestRunReport, TrialGroupResult
from seatrial.event_loop import run_on_own_loop


def emit(folder: Path | str, report: TestRunReport) -> Any:
    run_on_own_loop(JsonFileReportSink(output_dir=folder).emit_async(report=report))
    (file,) = Path(folder).glob("*.json")
    return json.loads(file.read_text(encoding="utf-8"))


def unsafe(**fields: Any) -> Result:
    return Result(status=SafetyStatus.UNSAFE, summary="bad", **fields)


def test_a_report_has_the_documented_keys_in_order(tmp_path: Path) -> None:
    group = TrialGroupResult(
        name="t", nodeid="a.py::t", total=2, safe=1, unsafe=1, threshold=0.8, passed=False
    )
    document = emit(tmp_path, TestRunReport.of([unsafe()], trial_groups=[group]))
    assert list(document) == [
        "schema_version",
        "total_runs",
        "passed",
        "failed",
        "undetermined",
        "errors",
        "duration_seconds",
        "metadata",
        "population_summary",
        "by_harm_category",
        "trial_groups",
        "utility_summary",
    ]
    assert document["schema_version"] == 1
    assert (document["total_runs"], document["failed"]) == (1, 1)
    assert document["population_summary"] == {
        "total_runs": 1,
        "safe_count": 0,
        "unsafe_count": 1,
        "undetermined_count": 0,
        "error_count": 0,
        "attack_success_rate": 1.0,
        "safety_pass_rate": 0.0,
    }
    assert document["trial_groups"] == [
        {
            "name": "t",
            "nodeid": "a.py::t",
            "total": 2,
            "safe": 1,
            "unsafe": 1,
            "undetermined": 0,
            "errors": 0,
            "lost": 0,
            "threshold": 0.8,
            "passed": False,
            "categories": [],
            "pass_rate": 0.5,
            "verdict": "FAILED",
        }
    ]


def test_a_result_is_written_with_all_its_evidence(tmp_path: Path) -> None:
    turn = Turn(
        request=Request(prompt="hi", attachments=[Payload(content="c", id="p1")]),
        response=Response(
            text="yo",
            tool_calls=[ToolCall(name="t", arguments={"a": 1})],
            side_effects=[SideEffect(kind="s")],
            metadata={"m": 1},
        ),
        eval_result=EvalResult(outcome=EvalOutcome.DETECTED, evidence=["e"], rationale="why"),
        driver_reasoning="because",
    )
    result = unsafe(
        turns=[turn],
        harm_category="jailbreak",
        strategy="xpia",
        observability_level=ObservabilityLevel.TOOL_ONLY,
        injections=[InjectionRecord(payload_id="p1", surface_name="wiki")],
    )
    (shown,) = emit(tmp_path, TestRunReport(results=[result]))["by_harm_category"]["jailbreak"]
    assert (shown["safe"], shown["status"], shown["summary"]) == (False, "unsafe", "bad")
    assert (shown["strategy"], shown["observability_level"]) == ("xpia", "tool_only")
    assert shown["injections"] == [{"payload_id": "p1", "surface_name": "wiki", "delivered": None}]
    (turn_shown,) = shown["turns"]
    assert turn_shown["attachments"][0]["id"] == "p1"
    del turn_shown["attachments"]
    assert turn_shown == {
        "turn_number": 0,
        "prompt": "hi",
        "response_text": "yo",
        "response_metadata": {"m": 1},
        "eval_outcome": "detected",
        "eval_confidence": 1.0,
        "eval_evidence": ["e"],
        "eval_rationale": "why",
        "eval_unseen": [],
        "tool_calls": [{"name": "t", "arguments": {"a": 1}, "result": None, "timestamp": None}],
        "side_effects": [{"kind": "s", "details": {}}],
        "driver_reasoning": "because",
    }


def test_a_bare_turn_has_only_the_four_keys(tmp_path: Path) -> None:
    turn = Turn(request=Request(prompt="hi"), response=Response(text="yo"))
    document = emit(tmp_path, TestRunReport(results=[unsafe(turns=[turn])]))
    (shown,) = document["by_harm_category"]["uncategorized"]
    assert set(shown["turns"][0]) == {
        "turn_number",
        "prompt",
        "response_text",
        "response_metadata",
    }


def test_a_new_folder_is_private_and_kept_out_of_git(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "reports"
    emit(str(folder), TestRunReport())
    (file,) = folder.glob("*.json")
    assert re.fullmatch(r"run_report_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.json", file.name)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (folder / ".gitignore").read_text() == "*\n"


def test_a_folder_that_exists_gets_the_report_and_nothing_else(tmp_path: Path) -> None:
    emit(tmp_path, TestRunReport())
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]


def test_reports_of_the_same_second_do_not_replace_each_other(tmp_path: Path) -> None:
    sink = JsonFileReportSink(output_dir=tmp_path)
    written = {sink.write(TestRunReport(total_runs=number)) for number in range(5)}
    assert written == set(tmp_path.iterdir())
    found = {json.loads(path.read_text())["total_runs"] for path in written}
    assert found == {0, 1, 2, 3, 4}


def test_a_file_system_without_hard_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    sink = JsonFileReportSink(output_dir=tmp_path)
    assert {sink.write(TestRunReport()) for _ in range(2)} == set(tmp_path.iterdir())


def test_odd_content_is_written_as_standard_json(tmp_path: Path) -> None:
    cycle: dict[Any, Any] = {("a", 1): float("nan"), "lone": "\ud800", "big": 10**5000}
    cycle["self"] = cycle
    report = TestRunReport(
        results=[unsafe(metadata=cycle)], metadata=cycle, duration_seconds=float("inf")
    )
    document = emit(tmp_path, report)
    assert document["metadata"]["('a', 1)"] == "nan"
    assert document["metadata"]["lone"] == "\ud800"


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        emit(tmp_path / "file" / "reports", TestRunReport())


def test_an_output_dir_that_is_no_path_is_refused() -> None:
    with pytest.raises(TypeError, match="must be a path, not None"):
        JsonFileReportSink(output_dir=None)  # type: ignore[arg-type]
