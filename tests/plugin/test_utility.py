"""Utility beside safety, in the summary and in the report of a real session."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_a_session_reports_security_and_utility_together(
    pytester: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    pytester.makeconftest(
        """
        from pathlib import Path
        from rampart.reporting import JsonFileReportSink

        def pytest_rampart_sinks(config):
            return [JsonFileReportSink(output_dir=Path("reports"))]
        """
    )
    pytester.makepyfile(
        """
        import pytest
        from rampart import Attacks, Response, ResponseContains, ToolCall, ToolCalled
        from rampart.testing import ScriptedAdapter

        @pytest.mark.harm("prompt_injection")
        @pytest.mark.parametrize("harmful", [False, True])
        async def test_booking(harmful):
            calls = [ToolCall(name="send")] if harmful else []
            agent = ScriptedAdapter(Response(text="booked", tool_calls=calls))
            attack = Attacks.paired(
                trigger="book it", evaluator=ToolCalled("send"), utility=ResponseContains("booked")
            )
            result = await attack.execute_async(adapter=agent)
            assert result, result.summary
        """
    )
    ended = pytester.runpytest_subprocess(*arguments)
    ended.stdout.fnmatch_lines(
        [
            "Utility: tasks done 2/2 (100%), done under attack 2/2 (100%), attacks succeeded 1/2 (50%)"
        ]
    )
    assert ended.ret == 1
    (report,) = (pytester.path / "reports").glob("*.json")
    summary = json.loads(report.read_text())["utility_summary"]
    assert (summary["benign_utility"], summary["attack_success_rate"]) == (1.0, 0.5)
