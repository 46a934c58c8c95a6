"""Whatever text a run holds, its Markdown report keeps its shape."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kensa.markdown import LIMIT, render_markdown
from seatrial.snapshot import Json, JsonObject

MARKDOWN = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table")
# Text that is made to break out is found faster among these than among all of Unicode.
MARKUP = st.text(alphabet="`|\\<>[]()!*_#-&;:/.\n\r\t a1\u2028\x1b", max_size=40)
TEXT = MARKUP | st.text(max_size=40)


@given(names=st.lists(TEXT, min_size=1, max_size=3, unique=True), reason=TEXT)
@example(names=["a"], reason="````\n```")
@example(names=["|\\"], reason="")
def test_no_text_adds_a_row_a_heading_a_link_or_html(names: list[str], reason: str) -> None:
    groups: list[Json] = [{"group_id": name, "verdict": "fail"} for name in names]
    trials: list[Json] = [
        {"group_id": name, "status": "fail", "failure": {"message": reason}} for name in names
    ]
    document: JsonObject = {"complete": True, "aggregates": groups, "trials": trials}
    report = render_markdown(document)
    tokens = MARKDOWN.parse(report)
    kinds = [token.type for token in tokens]
    assert len(report) <= LIMIT
    assert kinds.count("tr_open") == 1 + len(names)
    assert kinds.count("td_open") == 5 * len(names)
    assert kinds.count("heading_open") == 2 + len(names)
    assert kinds.count("fence") == len(names)
    inline = [child for token in tokens for child in token.children or ()]
    assert not {child.type for child in inline} & {"link_open", "image"}
    assert {c.content for c in inline if c.type == "html_inline"} <= {"<code>", "</code>"}
