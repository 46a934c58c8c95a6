"""One item's way: bind its scope, watch its phases, and put its record on its report."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from seatrial.plugin import carry
from seatrial.plugin.cancelled import TrialCancelled
from seatrial.plugin.expand import refuse_unexpanded
from seatrial.plugin.faces import face_named, loaded_faces
from seatrial.plugin.keys import planned_key, scope_key
from seatrial.plugin.longrepr import escape_report
from seatrial.plugin.model_options import may_use_cache
from seatrial.plugin.plan import own_nodeid
from seatrial.scope import TrialScope, bind, unbind

if TYPE_CHECKING:
    from seatrial.outcome import Outcome
    from seatrial.plugin.faces import Face
    from seatrial.trial import TrialRecord

__all__: list[str] = []


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Bind the item's scope while any of its phases runs."""
    token = bind(_open_scope(item))
    try:
        if item.stash.get(planned_key, None) is None:
            return (yield)
        from seatrial.plugin.threads import carry_scope_into_threads

        with carry_scope_into_threads():
            return (yield)
    except (KeyboardInterrupt, pytest.exit.Exception) as error:
        _report_cancelled(item, error)
        raise
    finally:
        _close_trace(item.stash[scope_key])
        del item.stash[scope_key]  # pytest keeps items to the end; the record holds what counts
        unbind(token)


def _open_scope(item: pytest.Item) -> TrialScope:
    planned = item.stash.get(planned_key, None)
    scope = TrialScope(
        key=planned.key if planned is not None else None,
        nodeid=own_nodeid(item),
        judge_disabled=any(face.judges_disabled(item.config) for face in loaded_faces(item.config)),
        use_cache=may_use_cache(item.config),
        started_at=time.time(),
    )
    item.stash[scope_key] = scope
    return scope


# Not a wrapper: pytest's own wrappers must have begun when an item is refused.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Start a fresh scope for every further attempt: a rerun plugin repeats the phases."""
    scope = item.stash[scope_key]
    if scope.phase != "setup":
        _close_trace(scope)
        again = _open_scope(item)
        again.attempt = scope.attempt + 1
        # Ends with the protocol's own binding, which restores what was current before the item.
        bind(again)
    refuse_unexpanded(item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Note that the body runs: what is reported meanwhile is a subtest, not the trial."""
    scope = item.stash[scope_key]
    scope.in_body = True
    try:
        result = yield
    finally:
        scope.in_body = False
    if scope.results and scope.key is None:
        for face in loaded_faces(item.config):
            face.check_plain_test(item, scope)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the trial's record to its report; xdist carries it to the controlling process."""
    report = yield
    scope = item.stash.get(scope_key, None)
    face = None if scope is None else _face_of(item, scope)
    if scope is None or face is None:
        if scope is not None and not scope.in_body:
            _advance(scope, report)
        return report
    from seatrial.plugin.evidence import amendment_of, note_part, record_of  # plain tests need none

    escape_report(report)
    if scope.in_body:
        _settle_part(item, face, note_part(item, face, scope, report, call), report)
        return report
    if report.when == "teardown":
        amendment = amendment_of(item, face, scope, report, call.excinfo)
        if amendment is not None:
            carry.attach_amendment(report, amendment)
    elif report.when == "call" or not report.passed:
        record = record_of(item, face, scope, report, call)
        if call.excinfo is not None and isinstance(call.excinfo.value, TrialCancelled):
            record = record.cut_short(call.excinfo.value.reason)
        _fail_at_once(item, face, record, report)
        carry.attach_record(report, record, face.reason(record))
    _advance(scope, report)
    return report


def _face_of(item: pytest.Item, scope: TrialScope) -> Face | None:
    if scope.key is not None:
        return face_named(item.config, scope.key.face)
    return next((face for face in loaded_faces(item.config) if face.adopts(item, scope)), None)


def _advance(scope: TrialScope, report: pytest.TestReport) -> None:
    scope.phase = "call" if report.when == "setup" else "teardown"


def _settle_part(
    item: pytest.Item, face: Face, outcome: Outcome | None, report: pytest.TestReport
) -> None:
    """Let a failed subtest be tolerated where its trial would be."""
    planned = item.stash.get(planned_key, None)
    if planned is None or outcome is None:
        return
    if face.policy(planned.policy).tolerates(outcome):
        carry.tolerate(report, face.words[outcome])


def _fail_at_once(
    item: pytest.Item, face: Face, record: TrialRecord, report: pytest.TestReport
) -> None:
    """Fail a report whose body passed although what it recorded can never be tolerated."""
    if not report.passed or report.when != "call":
        return
    planned = item.stash.get(planned_key, None)
    if planned is None:
        fails = face.fails_plain_test(item.config, record)
    else:
        fails = not face.policy(planned.policy).tolerates(record.outcome)
    if fails:
        report.outcome = "failed"
        report.longrepr = f"{face.reason(record)} (the test itself did not fail)"


def _report_cancelled(item: pytest.Item, error: BaseException) -> None:
    """Report a trial that was stopped from outside: skipped, with the evidence that it gathered."""
    scope = item.stash[scope_key]
    face = _face_of(item, scope)
    if face is None or scope.results_recorded is not None:
        return
    report = pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="skipped",
        longrepr=(str(item.path), item.location[1] or 0, "Skipped: cancelled"),
        when="call",
    )
    from seatrial.plugin.evidence import record_of

    record = record_of(item, face, scope, report, None)
    carry.attach_record(report, record.cut_short(str(error) or type(error).__name__), "cancelled")
    item.ihook.pytest_runtest_logreport(report=report)


def _close_trace(scope: TrialScope) -> None:
    if scope.spans is not None:
        from seatrial.capture import close_trace

        close_trace(scope)
