"""The scope of the running trial, and one that is lent to code that may be given up on."""

from __future__ import annotations

from contextvars import copy_context

import pytest

from seatrial.capture import open_trace, read_trace
from seatrial.scope import (
    LentScope,
    TrialScope,
    bind,
    current_scope,
    is_given_up,
    lent_scope,
    unbind,
)


@pytest.fixture
def scope() -> TrialScope:
    return TrialScope(key=None, nodeid="test_a.py::test_it")


def test_the_scope_is_current_until_it_is_unbound(scope: TrialScope) -> None:
    before = current_scope()
    token = bind(scope)
    assert current_scope() is scope
    assert lent_scope() is None
    unbind(token)
    assert current_scope() is before


def test_a_lent_scope_is_the_trials_own(scope: TrialScope) -> None:
    lent = LentScope(scope).as_scope()
    lent.results.append({"status": "safe"})
    lent.output = "answered"
    open_trace(lent)
    assert scope.results == [{"status": "safe"}]
    assert scope.output == "answered"
    assert lent.spans is scope.spans
    assert lent.nodeid == scope.nodeid


def test_what_is_done_with_a_scope_that_was_taken_back_reaches_nobody(scope: TrialScope) -> None:
    loan = LentScope(scope)
    lent = loan.as_scope()
    lent.notes.append("early")
    loan.take_back()
    lent.results.append({"status": "unsafe"})
    lent.judgements.append({"passed": False})
    lent.notes.append("late")
    lent.output = "late"
    lent.case_ran = True
    open_trace(lent)
    assert (scope.results, scope.judgements, scope.notes) == ([], [], ["early"])
    assert (scope.output, scope.case_ran, scope.spans) == (None, False, None)
    assert read_trace(lent).spans == ()


def test_code_can_tell_that_it_was_given_up_on_wherever_its_context_went(scope: TrialScope) -> None:
    loan = LentScope(scope)
    context = copy_context()
    context.run(bind, loan.as_scope())
    inherited = context.run(copy_context)
    assert inherited.run(lent_scope) is loan
    assert not inherited.run(is_given_up)
    loan.take_back()
    assert inherited.run(is_given_up)
    assert not is_given_up()
