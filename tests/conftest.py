"""What all tests share: an environment that decides nothing, and fast inner sessions."""

from __future__ import annotations

import os

import pytest

_DECIDING = (
    "KENSA_JUDGE_MODEL",
    "KENSA_JUDGE_PROVIDER",
    "KENSA_JUDGE_RESULT",
    "KENSA_LLM_MODEL",
    "KENSA_LLM_PROVIDER",
    "KENSA_TRACE_DIR",
    # Inner sessions are nobody's workers, also when the tests themselves run in xdist's.
    "PYTEST_XDIST_TESTRUNUID",
    "PYTEST_XDIST_WORKER",
    "PYTEST_XDIST_WORKER_COUNT",
    "SEATRIAL_MODEL_ATTEMPTS",
    "SEATRIAL_MODEL_CONCURRENCY",
    "SEATRIAL_MODEL_RATE",
    "SEATRIAL_NO_CACHE",
    "SEATRIAL_RUN_ID",
)


@pytest.fixture(autouse=True)
def _plain_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing that the machine's user set may decide a verdict here."""
    for name in _DECIDING:
        monkeypatch.delenv(name, raising=False)
    # Nor may what a model answered in another test, or how a server refused one.
    scratch = tmp_path_factory.getbasetemp()
    monkeypatch.setenv("SEATRIAL_CACHE_DIR", str(scratch / f"cache-{os.urandom(4).hex()}"))


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Pytester without plugins of what the tests use: Hypothesis, which loads itself anew at the end
    of every inner session, and LangSmith, which AgentDojo brings.
    """
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest -p no:langsmith_plugin")
    return pytester
