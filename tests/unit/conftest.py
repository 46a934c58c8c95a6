"""Trials without a session: a scope of one's own, and OpenTelemetry as in a fresh process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from seatrial.scope import TrialScope, bind, unbind
from seatrial.trial import TrialKey


@pytest.fixture
def open_trial(fresh_opentelemetry: None) -> Callable[..., AbstractContextManager[TrialScope]]:
    """`with open_trial() as scope:` runs its body as the trial of that scope."""

    @contextmanager
    def _open(
        *, face: str = "kensa", index: int = 1, judge_disabled: bool = False
    ) -> Iterator[TrialScope]:
        key = TrialKey(face=face, test="test_x.py::test_x", case="a", index=index, total=3)
        scope = TrialScope(
            key=key, nodeid=f"test_x.py::test_x[a-trial{index}]", judge_disabled=judge_disabled
        )
        scope.phase = "call"
        token = bind(scope)
        try:
            yield scope
        finally:
            unbind(token)

    return _open


@pytest.fixture
def fresh_opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    """No tracer provider is set, and we are attached to none."""
    from opentelemetry import trace
    from opentelemetry.util._once import Once

    from kensa import jsonl
    from seatrial.capture import provider

    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())
    monkeypatch.setattr(provider, "_attached_to", None)
    monkeypatch.setattr(jsonl, "_instrumented", set())
