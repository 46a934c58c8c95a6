"""The Markdown report of a run of evals."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from kensa.markdown import LIMIT, render_markdown
from seatrial.snapshot import Json, JsonObject

MARKDOWN = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table")


def group(name: str, verdict: str | None, passed: int = 0, failed: int = 0) -> JsonObject:
    return {
        "group_id": name,
        "verdict": verdict,
        "total": passed + failed,
        "passed": passed,
        "failed": failed,
        "errored": 0,
    }


def trial(name: str, message: str, index: int = 1) -> JsonObject:
    return {
        "group_id": name,
        "trial_index": index,
        "configured_trials": 3,
        "status": "fail",
        "error": message,
        "failure": {"category": "agent", "kind": "assertion", "message": message},
    }


def document(groups: list[JsonObject], trials: list[JsonObject]) -> JsonObject:
    return {
        "run_id": "r1",
        "complete": True,
        "interruption": None,
        "aggregates": list[Json](groups),
        "trials": list[Json](trials),
    }


def test_a_short_table_comes_first_with_the_worst_on_top_then_the_reasons() -> None:
    report = render_markdown(
        document(
            [group("test_a[ok]", "pass", 3), group("test_a[bad]", "flaky", 2, 1)],
            [trial("test_a[bad]", "assert 1 == 2\n  where", 2)],
        )
    )
    assert report == (
        "# Kensa Eval Report\n"
        "\n"
        "**1 of 2 cases passed**\n"
        "\n"
        "| Result | Case | Passed | Failed | Errors |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| FLAKY | `test_a[bad]` | 2/3 | 1 | 0 |\n"
        "| PASS | `test_a[ok]` | 3/3 | 0 | 0 |\n"
        "\n"
        "## Failures\n"
        "\n"
        "### FLAKY `test_a[bad]`\n"
        "\n"
        "Trial 2 of 3, owner `agent`:\n"
        "\n"
        "```text\n"
        "assert 1 == 2\n"
        "  where\n"
        "```\n"
        "\n"
        "Run `r1`\n"
    )


def test_an_incomplete_run_says_so_before_anything_else_is_read() -> None:
    stopped = document([group("test_a", "pass", 1)], []) | {
        "complete": False,
        "interruption": {"kind": "incomplete", "message": "2 trials never ran"},
    }
    assert "**The run is incomplete:** `2 trials never ran`" in render_markdown(stopped)


@pytest.mark.parametrize(
    ("verdict", "shown"), [("inconclusive", "UNJUDGED"), (None, "NOT RUN"), ("partial", "PARTIAL")]
)
def test_every_verdict_has_a_word(verdict: str | None, shown: str) -> None:
    assert f"| {shown} | `t` |" in render_markdown(document([group("t", verdict)], []))


HOSTILE = [
    "a | b",
    "a \\| b",
    "`code` | ``",
    "<script>alert(1)</script>",
    "[link](https://evil.example)",
    "![image](https://evil.example/x.png) |",
    "line\nbreak | x\n\n| PASS | forged | 3/3 | 0 | 0 |",
    "```\n# heading",
    "\x1b[31m\u202e | \u2028",
    "",
    "   ",
    "&#124; &lt;b&gt; |",
    "@team https://evil.example |",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_adds_no_row_no_link_and_no_html(text: str) -> None:
    hostile = document([group(text, "fail", 0, 1), group("calm", "pass", 1)], [trial(text, text)])
    hostile["run_id"] = text
    tokens = MARKDOWN.parse(render_markdown(hostile))
    kinds = [token.type for token in tokens]
    assert kinds.count("tr_open") == 3
    assert kinds.count("td_open") == 10
    assert kinds.count("heading_open") == 3
    assert kinds.count("fence") == 1
    assert "html_block" not in kinds
    inline = [child for token in tokens for child in token.children or ()]
    assert not {child.type for child in inline} & {"link_open", "image"}
    assert {c.content for c in inline if c.type == "html_inline"} <= {"<code>", "</code>"}


def test_hostile_text_is_shown_whole() -> None:
    text = "a | `b` \\| <c>"
    tokens = MARKDOWN.parse(render_markdown(document([group(text, "pass", 1)], [])))
    cells = [
        "".join(child.content for child in token.children or () if child.type != "html_inline")
        for token in tokens
        if token.type == "inline"
    ]
    assert text in cells


def test_a_huge_run_stays_within_a_comment_and_counts_what_is_left_out() -> None:
    names = [f"test_{i}[{'x' * 300}]" for i in range(2_000)]
    report = render_markdown(
        document(
            [group(name, "fail", 0, 1) for name in names],
            [trial(name, "y" * 1_000_000, index) for name in names for index in (1, 2)],
        )
    )
    assert len(report) <= LIMIT
    assert " more | | | |" in report
    assert "more failed cases are not shown" in report


def test_of_one_case_five_trials_are_shown() -> None:
    trials = [trial("t", f"reason {i}", i) for i in range(1, 9)]
    report = render_markdown(document([group("t", "fail", 0, 8)], trials))
    assert "reason 5" in report
    assert "reason 6" not in report
    assert "3 more trials are not shown." in report


def test_a_document_of_another_shape_is_still_a_report() -> None:
    odd: JsonObject = {"aggregates": [1, {"group_id": 5, "passed": "x"}], "trials": "none"}
    assert "| NOT RUN | <code>&#32;" not in render_markdown(odd)
    assert "**0 of 1 cases passed**" in render_markdown(odd)
