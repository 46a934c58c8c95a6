"""Starting a command imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("_pytest", "pytest", "opentelemetry", "pydantic", "openai", "anthropic", "httpx", "rich")


def modules_after(statement: str) -> set[str]:
    program = f"import sys\n{statement}\nsys.stderr.write(' '.join(sys.modules))"
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in ended.stderr.split()}


@pytest.mark.parametrize("face", ["kensa", "seatrial"])
@pytest.mark.parametrize("words", ["--version", "--help"])
def test_a_command_that_only_speaks_of_itself_loads_nothing_heavy(face: str, words: str) -> None:
    loaded = modules_after(f"from {face}.cli.tree import main\nassert main(['{words}']) == 0")
    assert "click" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_doctor_of_the_installation_looks_without_importing() -> None:
    loaded = modules_after("from seatrial.cli.tree import main\nassert main(['doctor']) == 0")
    assert loaded.isdisjoint(HEAVY)
