"""Tables in Markdown, for a terminal as well as for a page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from benchmarks.figure import Figure

__all__ = ["figure_table", "markdown_table"]

_PROBLEM_CHARACTERS = 100  # the whole of it is printed when it occurs
_COLUMNS = ("figure", "measured", "reference", "compared", "spread", "promise", "judged")


def figure_table(figures: Sequence[Figure]) -> str:
    """All figures, one a line."""
    return markdown_table(_COLUMNS, [_cells(figure) for figure in figures])


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose columns line up in its source, too. Ends with a newline."""
    plain = [[" ".join(cell.split()).replace("|", r"\|") for cell in row] for row in rows]
    lines = [list(columns), *plain]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    padded = [
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines
    ]
    padded.insert(1, ["-" * width for width in widths])
    return "".join(f"| {' | '.join(line)} |\n" for line in padded)


def _cells(figure: Figure) -> tuple[str, ...]:
    promise = "" if figure.limit is None else f"at most {figure.limit:.2f} {figure.unit}"
    if figure.compared is None:
        problem = textwrap.shorten(figure.problem, _PROBLEM_CHARACTERS, placeholder=" ...")
        return (figure.name, "", "", problem, "", promise, figure.judgement)
    return (
        figure.name,
        figure.measured,
        figure.reference,
        f"{figure.compared.median:.2f} {figure.unit}",
        f"{figure.compared.low:.2f} to {figure.compared.high:.2f}",
        promise,
        figure.judgement,
    )
