"""Foreign text, made safe for a terminal without losing evidence."""

from __future__ import annotations

import pytest

from seatrial.text import escape, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with ünïcödé and 漢字", "plain, with ünïcödé and 漢字"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("over\rwrite", r"over\rwrite"),
        ("\x9b2J", r"\x9b2J"),
        ("user\u202egnp.exe", r"user\u202egnp.exe"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("line\u2028separator", r"line\u2028separator"),
        ("lone \ud800 surrogate", r"lone \ud800 surrogate"),
        ("nul\x00", r"nul\x00"),
        ("tag\U000e0041", r"tag\U000e0041"),
    ],
)
def test_what_could_deceive_a_reader_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_lines_and_tabs_stay_unless_one_line_is_wanted() -> None:
    assert escape("a\n\tb") == "a\n\tb"
    assert one_line("a\n\tb") == r"a\n\tb"


def test_one_line_is_cut_at_its_limit_and_says_so() -> None:
    assert one_line("x" * 10, limit=10) == "x" * 10
    assert one_line("x" * 11, limit=10) == "x" * 9 + "…"
    assert one_line("\x1b" * 10, limit=10) == r"\x1b\x1b\…"


def test_cutting_a_huge_text_does_not_escape_all_of_it() -> None:
    assert len(one_line("\x1b" * 5_000_000)) == 500
