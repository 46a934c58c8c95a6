"""The suites run, here where Seatrial is installed, and do what their names say."""

from __future__ import annotations

import json

import pytest
from benchmarks.suites import Agent, write_empty, write_evals, write_plain, write_probes


def test_the_plain_suite_has_as_many_tests_as_asked(pytester: pytest.Pytester) -> None:
    write_plain(pytester.path / "suite", Agent(), 7)
    pytester.runpytest_subprocess("suite").assert_outcomes(passed=7)


def test_the_suite_of_nothing_has_one_test(pytester: pytest.Pytester) -> None:
    write_empty(pytester.path / "suite")
    pytester.runpytest_subprocess("suite").assert_outcomes(passed=1)


def test_probes_carry_the_agents_whole_answer_into_the_report(pytester: pytest.Pytester) -> None:
    write_probes(pytester.path / "suite", Agent(answer_characters=20_000), 3)
    result = pytester.runpytest_subprocess("suite")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*test_agent [[]3/3 safe, 100% pass rate*PASSED"])
    (report,) = (pytester.path / ".report").glob("*.json")
    assert report.stat().st_size > 60_000


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize(("trials", "cases"), [(1, 1), (5, 1), (20, 4)])
def test_evals_are_spread_over_cases_and_leave_artifacts(
    pytester: pytest.Pytester, blocking: bool, trials: int, cases: int
) -> None:
    write_evals(pytester.path / "suite", Agent(blocking=blocking), trials)
    result = pytester.runpytest_subprocess("suite", "--kensa-write-artifacts")
    result.assert_outcomes(passed=trials)
    result.stdout.fnmatch_lines([f"{cases}/{cases} aggregate case(s) passed"])
    (document,) = (pytester.path / ".kensa" / "results").glob("*.json")
    assert json.loads(document.read_text(encoding="utf-8"))


@pytest.mark.parametrize("blocking", [False, True])
def test_an_agent_waits_as_long_as_it_is_told(blocking: bool) -> None:
    source = Agent(wait_s=1.5, answer_characters=7, blocking=blocking).source()
    waits: list[float] = []
    names: dict[str, object] = {}
    exec(source, names)
    names["time"] = names["asyncio"] = _Clock(waits)
    answer = names["agent"]("hi")  # type: ignore[operator]
    if not blocking:
        with pytest.raises(StopIteration) as ended:
            answer.send(None)
        answer = ended.value.value
    assert answer == "hello h"
    assert waits == [1.5]


class _Clock:
    """Stands for `time` and `asyncio` where only the length of a wait matters."""

    def __init__(self, waits: list[float]) -> None:
        self._waits = waits

    def sleep(self, seconds: float) -> object:
        self._waits.append(seconds)
        return _Nothing()


class _Nothing:
    def __await__(self) -> object:
        return iter(())
