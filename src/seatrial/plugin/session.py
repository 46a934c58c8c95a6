"""The controlling process's part: keep the journal, fold records into groups, set the exit status.

In one process the reports come from pytest, under xdist from the workers; nothing here knows the
difference but for the words about workers that died.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Generator, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from seatrial.plugin import carry
from seatrial.plugin.faces import loaded_faces
from seatrial.plugin.keys import run_key
from seatrial.plugin.plan import planned_trials

if TYPE_CHECKING:
    from seatrial.gate import Verdict
    from seatrial.plugin.recorder import Recorder
    from seatrial.run import Run
    from seatrial.trial import GroupKey

__all__ = ["ControllerSession"]

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class ControllerSession:
    """Registered where pytest's own summary is printed and its exit status decided."""

    def __init__(self, config: pytest.Config) -> None:
        """Serve the session whose configuration this is.

        Raises:
            pytest.UsageError: If `SEATRIAL_RUN_ID` is set to what cannot name a file.
        """
        self._config = config
        self._run_id = _chosen_run_id()
        self._began_at = time.time()
        self._has_workers = bool(getattr(config.option, "tx", None))
        self._plan_known = False
        self._problems: list[str] = []
        self._tolerated: dict[str, str] = {}
        self._collected_ids: list[str] = []

    @cached_property
    def _recorder(self) -> Recorder:
        """Made when there is something to record: most suites load none of what it takes."""
        from seatrial.plugin.recorder import Recorder

        recorder = Recorder(self._config, self._run_id, self._began_at)
        if self._plan_known:
            recorder.plan(())
        return recorder

    @property
    def _is_recording(self) -> bool:
        return "_recorder" in vars(self)

    # -- what will run ------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Plan what is left after deselection; under xdist the workers' reports bring the plan."""
        if not _only_looking(self._config) and not _will_refuse_to_run(session):
            self._plan_known = True
            planned = planned_trials(session.items)
            if planned:
                self._recorder.plan(planned.values())

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        """Keep the raw ids, for the case that no worker lives to send its plan."""
        self._collected_ids = ids

    # -- what ran -----------------------------------------------------------------------

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note the trial as started before its set-up."""
        if self._is_recording or self._has_workers:
            self._recorder.started(nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a report's record, then fail a tolerated report whose group can no longer pass."""
        if carry.is_ours(report) or report.when not in ("setup", "call", "teardown"):
            self._receive(report)
        if report.when == "teardown" and report.nodeid in self._tolerated:
            # JUnit XML takes a test's properties from its last report.
            traceback = self._tolerated[report.nodeid]
            report.user_properties.append(("seatrial.tolerated", traceback))

    def _receive(self, report: pytest.TestReport) -> None:
        from seatrial.plugin.settle import settle

        plan = carry.take_plan(report)
        if plan is not None:
            self._recorder.plan_from_worker(plan)
        settle(self._config, self._recorder.planned, report)
        self._recorder.receive(report)
        if carry.is_tolerated(report):
            if self._recorder.can_pass(report.nodeid):
                earlier = self._tolerated.get(report.nodeid)  # of a subtest, or of the call
                told = (earlier, report.longreprtext) if earlier else (report.longreprtext,)
                self._tolerated[report.nodeid] = "\n\n".join(told)
            else:
                carry.promote(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Mark the run incomplete when a worker did not end by itself."""
        if error is not None:
            self._recorder.worker_died(node.gateway.id, str(error))

    # -- what it amounts to -------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(
        self, session: pytest.Session, exitstatus: int
    ) -> Generator[None, object, object]:
        """Let the gate speak before anyone prints, and correct pytest's memory after it wrote it."""
        verdicts = {} if _only_looking(self._config) else self._judge(session, exitstatus)
        result = yield
        if verdicts:
            from seatrial.plugin.last_failed import remember_failed_groups

            remember_failed_groups(self._config, self._config.stash[run_key], verdicts)
        return result

    def _judge(self, session: pytest.Session, exitstatus: int) -> dict[GroupKey, Verdict]:
        if not self._is_recording:
            return {}
        from seatrial.gate import exit_status

        run = self._recorder.finish(_why_stopped(session, exitstatus), self._collected_ids)
        if not run.planned and not run.attempts and not run.incomplete:
            return {}
        self._config.stash[run_key] = run
        verdicts = verdicts_of(self._config, run)
        status = exit_status(int(exitstatus), verdicts.values(), incomplete=bool(run.incomplete))
        self._problems = [*self._recorder.problems, *self._write(run)]
        if self._problems and status == pytest.ExitCode.OK:
            status = pytest.ExitCode.TESTS_FAILED
        session.exitstatus = status
        return verdicts

    def _write(self, run: Run) -> Iterator[str]:
        answers = self._config.hook.pytest_seatrial_run_finished(config=self._config, run=run)
        for problems in answers:
            yield from problems

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Any:
        """Say what is missing and what went wrong, after all other summaries."""
        result = yield
        run = self._config.stash.get(run_key, None)
        if run is not None:
            from seatrial.plugin.notices import write_notices

            write_notices(terminalreporter, run, self._problems, self._tolerated.items())
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: object) -> tuple[str, str, Any] | None:
        """Show tolerated and unjudged trials as what they are."""
        if not carry.is_ours(report):
            return None
        if carry.is_tolerated(report):
            return "tolerated", "t", ("TOLERATED", {"yellow": True})
        word = carry.accepted_word(report)
        if word is not None:
            return word.lower(), "u", (word, {"yellow": True})
        return None


def verdicts_of(config: pytest.Config, run: Run) -> dict[GroupKey, Verdict]:
    """The verdict of every group of a finished run that has one."""
    verdicts = {}
    for face in loaded_faces(config):
        for group in run.groups(face.name):
            verdict = face.policy(group.policy).verdict(group.tally)
            if verdict is not None:
                verdicts[group.key] = verdict
    return verdicts


def _chosen_run_id() -> str | None:
    # Taken out of the environment: a session inside this one is another run.
    chosen = os.environ.pop("SEATRIAL_RUN_ID", None)
    if chosen is not None and not _RUN_ID.fullmatch(chosen):
        raise pytest.UsageError(
            f"SEATRIAL_RUN_ID={chosen!r} cannot name a run: expected up to 100 letters, digits,"
            " '.', '_' or '-', beginning with a letter or digit"
        )
    return chosen


def _only_looking(config: pytest.Config) -> bool:
    options = config.option
    return bool(
        options.collectonly
        or getattr(options, "setuponly", False)
        or getattr(options, "setupplan", False)
    )


def _will_refuse_to_run(session: pytest.Session) -> bool:
    """Whether pytest stops here because something could not be collected: no trial is lost then."""
    option = session.config.option
    return bool(session.testsfailed) and not option.continue_on_collection_errors


def _why_stopped(session: pytest.Session, exitstatus: int) -> str:
    stopped = session.shouldfail or session.shouldstop
    if stopped:
        return str(stopped)
    interrupted = exitstatus == pytest.ExitCode.INTERRUPTED
    return "the run was interrupted" if interrupted else "the run ended before them"
