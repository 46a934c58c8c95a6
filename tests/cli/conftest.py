"""Commands run as a user runs them, in a project of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

HARNESS = """
import pytest
from kensa.tracing import record_tool_call

@pytest.fixture
def kensa_run():
    def _run(case):
        with record_tool_call("look_up"):
            return agent(case.input)
    return _run

def agent(text):
    return text.upper()
"""
EVAL = """
import pytest
from kensa.pytest import judge, kensa_case

@pytest.mark.kensa(trials=2)
@pytest.mark.parametrize("case", [kensa_case(id="refund", input="refund"), kensa_case(id="hello", input="hello")])
def test_shouts(case, kensa_run, kensa_trace):
    assert case.run(kensa_run) == case.input.upper()
    assert kensa_trace.tools.include(["look_up"])
"""


@pytest.fixture
def project(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Makes a project with a harness, a passing eval, and the given files over them."""

    def _make(files: dict[str, str]) -> Path:
        standard = {"tests/evals/conftest.py": HARNESS, "tests/evals/test_shouts.py": EVAL}
        for name, text in {**standard, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")
        return tmp_path

    return _make


@pytest.fixture
def kensa() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `kensa` with the given words in a folder."""

    def _run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        plain = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
        return subprocess.run(
            [sys.executable, "-m", "kensa", *words],
            cwd=folder,
            env={
                **plain,
                "PYTEST_ADDOPTS": "-p no:hypothesispytest -p no:langsmith_plugin",
                **environment,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return _run
