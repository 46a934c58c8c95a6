"""What the plugin's tests share: real pytest sessions on small projects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SAFETY_TESTS = """
import pytest
from rampart import Result, SafetyStatus, record_result

def record(status, summary="said so"):
    record_result(Result(status=SafetyStatus(status), summary=summary))
"""


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that the machine's user set may decide a verdict here."""
    for name in ("KENSA_JUDGE_RESULT", "KENSA_JUDGE_MODEL", "PYTEST_ADDOPTS", "SEATRIAL_RUN_ID"):
        monkeypatch.delenv(name, raising=False)


def read_results(folder: Path) -> dict[str, Any]:
    """The one results file below an artifact folder."""
    (path,) = (folder / "results").glob("*.json")
    document = json.loads(path.read_text())
    assert isinstance(document, dict)
    return document
