from __future__ import annotations

from benchmarks.figure import Figure
from benchmarks.sample import Sample
from benchmarks.table import figure_table, markdown_table


def test_a_table_lines_up_and_keeps_its_cells_apart() -> None:
    assert markdown_table(("name", "value"), [("a | b", "two\nlines"), ("c", "")]) == (
        "| name   | value     |\n"
        "| ------ | --------- |\n"
        "| a \\| b | two lines |\n"
        "| c      |           |\n"
    )


def test_a_figure_tells_its_ratio_its_spread_its_promise_and_the_judgement() -> None:
    figure = Figure(
        name="start-up: time",
        measured="0.24 s",
        reference="0.20 s",
        compared=Sample((1.19, 1.2, 1.21)),
        limit=1.1,
    )
    line = figure_table([figure]).splitlines()[2]
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "start-up: time",
        "0.24 s",
        "0.20 s",
        "1.20 times",
        "1.19 to 1.21",
        "at most 1.10 times",
        "BROKEN",
    ]


def test_a_figure_that_could_not_be_measured_says_why() -> None:
    figure = Figure(name="PyPI's `rampart`", problem="does not install: no", optional=True)
    assert "does not install: no" in figure_table([figure])


def test_a_long_story_does_not_widen_the_table() -> None:
    figure = Figure(name="start-up", problem="it ended with 4: " + "no such option " * 50)
    line = figure_table([figure]).splitlines()[2]
    assert "it ended with 4: no such option" in line
    assert "NOT MEASURED" in line
    assert len(line) < 220
