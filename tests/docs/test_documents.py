"""The Python in README.md and docs/ runs, as a reader would run it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PAGES = [_ROOT / "README.md", *sorted((_ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```python\n# (\S+\.py)(, continued)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """The page's Python blocks: the file that each names in its first line, and its text."""
    return [(name, text) for name, _, text in _BLOCK.findall(page.read_text(encoding="utf-8"))]


def with_python() -> list[Path]:
    return [page for page in _PAGES if blocks_of(page)]


@pytest.mark.parametrize("page", with_python(), ids=lambda page: page.name)
def test_the_python_of_a_page_runs_and_its_tests_pass(
    page: Path, pytester: pytest.Pytester
) -> None:
    for name, text in blocks_of(page):
        target = pytester.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("a", encoding="utf-8") as file:
            file.write(text)
    result = pytester.runpytest_subprocess("-q", "-W", "error")
    outcomes = result.parseoutcomes()
    assert result.ret == 0, result.stdout.str()
    assert outcomes["passed"] > 0
    assert set(outcomes) == {"passed"}


def test_every_python_block_names_the_file_that_it_belongs_to() -> None:
    for page in _PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(re.findall(r"^```python", text, re.MULTILINE)) == len(blocks_of(page)), page.name


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("option", ["--kensa-no-judge", "--kensa-report", "--kensa-artifact-dir"])
def test_options_that_the_pages_name_exist(option: str, pytester: pytest.Pytester) -> None:
    page = (_ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert option in page
    assert option in pytester.runpytest("--help").stdout.str()
