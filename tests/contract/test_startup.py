"""Starting pytest with Seatrial installed imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"anthropic", "click", "httpx", "openai", "opentelemetry", "pydantic", "rich"}
PLUGINS = ["seatrial.plugin", "rampart.plugin", "kensa.plugin"]


def loaded_by(*arguments: str, folder: Path | None = None) -> set[str]:
    """Top-level packages that a Python process had loaded when it ended."""
    ended = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    _, _, names = ended.stdout.rpartition("MODULES ")
    return {name.partition(".")[0] for name in names.split()}


@pytest.mark.parametrize("module", [*PLUGINS, "rampart", "kensa", "kensa.cli"])
def test_an_import_loads_nothing_heavy(module: str) -> None:
    loaded = loaded_by("-c", f"import sys, {module}; print('MODULES', *sys.modules)")
    assert module.partition(".")[0] in loaded
    # The command line is click's; nothing else may need it.
    assert loaded & HEAVY <= ({"click"} if module == "kensa.cli" else set())


@pytest.mark.parametrize(
    ("tests", "arguments"),
    [
        pytest.param("", ["--collect-only"], id="empty suite"),
        pytest.param("def test_it(): pass", [], id="suite without agents"),
    ],
)
def test_a_suite_without_agent_tests_loads_nothing_heavy(
    tmp_path: Path, tests: str, arguments: list[str]
) -> None:
    (tmp_path / "test_plain.py").write_text(tests)
    (tmp_path / "conftest.py").write_text(
        "import sys\ndef pytest_unconfigure(config):\n    print('MODULES', *sys.modules)\n"
    )
    # A session that collects nothing ends with 5, and is none the worse for it.
    program = "import pytest, sys; sys.exit(pytest.main(sys.argv[1:]) not in (0, 5))"
    others = ["hypothesispytest", "langsmith_plugin", "cacheprovider"]
    without = [f"-pno:{name}" for name in others]
    loaded = loaded_by("-c", program, *without, *arguments, folder=tmp_path)
    assert {"seatrial", "rampart", "kensa"} <= loaded
    assert loaded.isdisjoint(HEAVY)
