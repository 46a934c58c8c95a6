"""What the plugin's tests share: small projects, and what sessions on them left."""

from __future__ import annotations

import json
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

_SAFETY_IMPORTS = """
import pytest
from rampart import HarmCategory, ObservabilityLevel, Result, SafetyStatus, record_result

def record(status, summary="said so", **fields):
    record_result(Result(status=SafetyStatus(status), summary=summary, **fields))

"""
_EVAL_IMPORTS = """
import pytest
from kensa.pytest import judge, kensa_case

"""


@pytest.fixture
def safety_tests(pytester: pytest.Pytester) -> Callable[..., None]:
    """`safety_tests(text)` writes test_s.py; its tests can `record("unsafe", "why")`."""

    def write(text: str, name: str = "test_s") -> None:
        pytester.makepyfile(**{name: _SAFETY_IMPORTS + dedent(text)})

    return write


@pytest.fixture
def eval_tests(pytester: pytest.Pytester) -> Callable[..., None]:
    """`eval_tests(text)` writes test_e.py, with `judge` and `kensa_case` imported."""

    def write(text: str, name: str = "test_e") -> None:
        pytester.makepyfile(**{name: _EVAL_IMPORTS + dedent(text)})

    return write


@pytest.fixture
def read_results(pytester: pytest.Pytester) -> Callable[..., Any]:
    """`read_results()` reads the one results file below the project's artifact folder."""

    def read(folder: str = ".kensa") -> Any:
        (path,) = (pytester.path / folder / "results").glob("*.json")
        return json.loads(path.read_text())

    return read
