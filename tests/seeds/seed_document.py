"""Reading the seed documents: their code blocks and tables, exactly as they stand."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Block",
    "kensa_seed",
    "markdown_blocks",
    "markdown_table",
    "page_blocks",
    "rampart_seed",
]

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Block:
    """One code block and the language that the document gives it."""

    language: str
    text: str


def kensa_seed() -> str:
    """The document about evals: Markdown."""
    return (_HERE / "kensa-pytest-plugin.txt").read_text(encoding="utf-8")


def rampart_seed() -> str:
    """The document about safety tests: a page copied as text."""
    return (_HERE / "rampart-pytest-integration.txt").read_text(encoding="utf-8")


def markdown_blocks(document: str) -> list[Block]:
    """The fenced blocks of a Markdown document, in order."""
    fenced = re.findall(r"^```(\w+)[^\n]*\n(.*?)^```$", document, re.DOTALL | re.MULTILINE)
    return [Block(language, text) for language, text in fenced]


def markdown_table(document: str, first_heading: str) -> list[dict[str, str]]:
    """The rows of the table whose first column has that heading, by heading, without backticks."""
    lines = document.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_heading} "))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().replace("`", "") for cell in line.strip("|").split("|")])
    headings, _, *body = rows
    return [dict(zip(headings, row, strict=True)) for row in body]


def page_blocks(document: str) -> list[Block]:
    """The blocks of a page that was copied as text, where only their first line is marked.

    A Python block is as many lines as still are Python; a text block ends with its closing rule.
    """
    lines = document.splitlines()
    starts = [i for i, line in enumerate(lines) if line in ("Python", "Text Only")]
    blocks = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        body = lines[start + 1 : end]
        if lines[start] == "Python":
            size = max(n for n in range(len(body)) if _is_python("\n".join(body[:n])))
        else:
            size = max(n for n, line in enumerate(body, 1) if line.startswith("===="))
        blocks.append(Block(lines[start], "\n".join(body[:size]).rstrip() + "\n"))
    return blocks


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
