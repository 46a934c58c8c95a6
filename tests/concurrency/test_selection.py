"""Choosing tests, stopping early and reporting to files, with many trials in flight."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from .recording import normalised
from .sessions import TOGETHER, Parity, Sessions, SuiteSession

SUITE = """
    @pytest.mark.trial(n=3)
    @pytest.mark.parametrize("letter", "ab")
    async def test_letters(letter, request):
        await asyncio.sleep(0)
        record("safe")
        assert letter == "a" or not request.node.name.endswith("1]") or os.path.exists("fixed")

    @pytest.mark.kensa(trials=3)
    @pytest.mark.parametrize("case", [kensa_case(id="one", input="x")])
    def test_case(case): assert case.run(lambda case: "y") == "y"

    def test_plain(): pass
    """


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("-k", "letters and a-trial"), 3),
        (("-k", "trial1"), 1),
        (("-k", "not case"), 7),
        (("test_suite.py::test_letters[a-trial-2]",), 1),
        (("test_suite.py::test_case",), 3),
        (("--deselect", "test_suite.py::test_letters[b-trial-1]"), 9),
        (("-m", "kensa"), 3),
    ],
)
def test_selections_select_the_same(
    parity: Parity, options: tuple[str, ...], expected: int
) -> None:
    together = parity(SUITE, *options)
    counts = together.counts
    assert counts.get("passed", 0) + counts.get("failed", 0) == expected


def test_looking_without_running_shows_the_same(sessions: Sessions) -> None:
    sessions.write(SUITE)
    shown = [session.lines for session in sessions.both("--collect-only", "-q")]
    assert normalised("\n".join(shown[0])) == normalised("\n".join(shown[1]))
    assert "test_suite.py::test_letters[b-trial-2]" in shown[1]


def ids(session: SuiteSession) -> list[str]:
    return [nodeid.partition("::")[2] for nodeid in session.recording.order]


@pytest.mark.parametrize("in_flight", [1, TOGETHER])
def test_last_failed_and_failed_first_take_the_failed_group(
    sessions: Sessions, pytester: pytest.Pytester, in_flight: int
) -> None:
    sessions.write(SUITE)
    first = sessions.run(in_flight=in_flight)
    assert first.counts == {"passed": 9, "failed": 1}
    group = [f"test_letters[b-trial-{index}]" for index in range(3)]
    ahead = sessions.run("--ff", in_flight=in_flight)
    assert sorted(ids(ahead)[:3]) == group
    assert len(ids(ahead)) == 10
    (pytester.path / "fixed").touch()
    again = sessions.run("--lf", in_flight=in_flight)
    assert sorted(ids(again)) == group
    assert again.counts["passed"] == 3


@pytest.mark.parametrize("in_flight", [1, TOGETHER])
def test_stepwise_stops_at_a_failure_and_continues_there(
    sessions: Sessions, pytester: pytest.Pytester, in_flight: int
) -> None:
    sessions.write(
        """
        def test_before(): pass

        @pytest.mark.trial(n=3)
        def test_it(request):
            assert os.path.exists("fixed") or not request.node.name.endswith("1]")

        def test_after(): pass
        """
    )
    first = sessions.run("--sw", in_flight=in_flight)
    assert first.status == pytest.ExitCode.INTERRUPTED
    assert "test_after" not in ids(first)
    (pytester.path / "fixed").touch()
    again = sessions.run("--sw", in_flight=in_flight)
    assert "test_before" not in ids(again)
    assert "test_it[trial-1]" in ids(again)
    assert "test_after" in ids(again)
    assert again.counts.get("failed", 0) == 0


def test_junit_files_say_the_same(sessions: Sessions, pytester: pytest.Pytester) -> None:
    sessions.write(
        """
        @pytest.fixture
        def broken(request):
            if request.node.name.endswith("2]"): raise OSError("no fixture")
            yield
            if request.node.name.endswith("0]"): raise OSError("no tear-down")

        @pytest.mark.trial(n=4, threshold=0.5)
        async def test_it(request, broken, record_property, record_testsuite_property):
            print("printed by", request.node.name)
            logging.getLogger("suite").warning("logged by %s", request.node.name)
            record_property("name", request.node.name)
            await meet_async(3)
            if request.node.name.endswith("1]"): raise ConnectionError("the agent hung up")

        @pytest.mark.trial(n=2)
        def test_sync(request): meet(2); assert request.node.name.endswith("1]")

        @pytest.mark.kensa(trials=2)
        def test_skips(): meet(2); pytest.skip("not today")
        """
    )
    documents = []
    for session in sessions.both("--junitxml=report.xml", "-ojunit_logging=all"):
        assert session.status == 1
        documents.append(junit_cases(pytester))
    assert documents[0] == documents[1]
    assert len(documents[1]) == 8
    assert "printed by test_it[trial-3]" in documents[1]["test_it[trial-3]"]


def junit_cases(pytester: pytest.Pytester) -> dict[str, str]:
    """The text of each test case in the report, without its times."""
    cases = {}
    for case in ElementTree.parse(pytester.path / "report.xml").iter("testcase"):
        case.attrib.pop("time")
        cases[case.attrib["name"]] = normalised(ElementTree.tostring(case, encoding="unicode"))
    return cases


def test_verbose_output_names_every_trial(sessions: Sessions) -> None:
    sessions.write(SUITE)
    for session in sessions.both("-v"):
        for name in ("test_letters[a-trial-2] PASSED", "test_letters[b-trial-1] FAILED"):
            assert any(name in line for line in session.lines), session.text
        assert re.search(r"\[100%\]", session.text)


def test_quiet_output_has_a_letter_for_every_trial(sessions: Sessions) -> None:
    sessions.write(SUITE)
    for session in sessions.both("-q"):
        assert sorted(session.lines[0].split()[0]) == sorted("F" + "." * 9)


@pytest.mark.parametrize("option", ["-x", "--maxfail=1"])
def test_the_first_failure_cancels_async_trials_in_flight_at_once(
    sessions: Sessions, option: str
) -> None:
    sessions.write(
        """
        @pytest.fixture
        def own(request):
            event("up", request.node.name)
            yield
            event("down", request.node.name)

        @pytest.fixture(scope="module")
        def shared():
            yield
            event("closed")

        @pytest.mark.trial(n=6)
        async def test_it(own, shared, request):
            await meet_async(6)
            record("safe", "before the end")
            assert not request.node.name.endswith("2]")
            try:
                await asyncio.sleep(3600)
            finally:
                event("body ends", request.node.name)
        """,
        {"test_zother": "def test_never(): event('never')"},
    )
    together = sessions.run(option)
    assert together.status == pytest.ExitCode.TESTS_FAILED
    assert together.counts == {"failed": 1, "skipped": 5}
    for index in (0, 1, 3, 4, 5):
        name = f"test_it[trial-{index}]"
        assert together.noted(name) == ["up", "body ends", "down"]
        assert together.report(name)["longrepr"][2] == "Skipped: cancelled"
        record = together.record(name)
        assert record["failure"]["kind"] == "cancelled"
        assert record["failure"]["message"].startswith("stopping after 1 failures")
        assert [result["summary"] for result in record["results"]] == ["before the end"]
    assert together.noted() == ["closed"]
    assert "test_it [0/6 safe" in together.text
    assert "stopping after 1 failures" in together.text


def test_the_first_failure_does_not_wait_for_sync_trials_that_block(sessions: Sessions) -> None:
    sessions.write(
        """
        for_ever = threading.Event()

        @pytest.fixture
        def own(request):
            yield
            event("down", request.node.name)

        @pytest.mark.trial(n=4)
        def test_it(own, request):
            meet(4)
            if request.node.name.endswith("2]"): pytest.fail("on purpose")
            for_ever.wait(3600)

        @pytest.fixture(scope="session", autouse=True)
        def release():
            yield
            for_ever.set()
        """
    )
    together = sessions.run("-x")
    assert together.counts == {"failed": 1, "skipped": 3}
    assert together.record("test_it[trial-0]")["failure"]["kind"] == "cancelled"
    assert together.noted("test_it[trial-0]") == ["down"]


def test_more_failures_may_be_allowed(sessions: Sessions) -> None:
    sessions.write(
        """
        arrived = 0

        @pytest.mark.trial(n=8)
        async def test_it():
            global arrived
            await meet_async(8)
            arrived += 1
            if arrived > 3: await asyncio.sleep(3600)
            assert False
        """
    )
    together = sessions.run("--maxfail=3")
    assert together.counts == {"failed": 3, "skipped": 5}
    assert together.status == pytest.ExitCode.TESTS_FAILED


def test_a_tolerated_miss_does_not_stop_the_session(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=4, threshold=0.75)
        async def test_it(request):
            await meet_async(4)
            record("safe")
            if request.node.name.endswith("2]"): raise ConnectionError("the agent hung up")

        @pytest.mark.trial(n=2)
        def test_after(): event("after")
        """,
        "-x",
    )
    assert together.counts == {"passed": 5, "tolerated": 1}
    assert together.noted() == ["after", "after"]


def test_a_set_up_that_fails_cancels_trials_that_are_setting_up(sessions: Sessions) -> None:
    sessions.write(
        """
        @pytest.fixture
        async def own(request):
            await meet_async(4)
            if request.node.name.endswith("1]"): raise OSError("no fixture")
            await asyncio.sleep(3600)

        @pytest.mark.trial(n=4)
        async def test_it(own): event("body")
        """
    )
    together = sessions.run("-x")
    assert together.counts == {"errors": 1, "skipped": 3}
    assert together.noted() == []
    assert together.record("test_it[trial-3]")["failure"]["kind"] == "cancelled"


def test_a_session_told_to_stop_by_a_hook_stops(sessions: Sessions) -> None:
    sessions.write(
        """
        @pytest.mark.trial(n=4)
        async def test_it(request):
            await meet_async(4)
            if request.node.name.endswith("1]"): request.session.shouldstop = "enough seen"
            else: await asyncio.sleep(3600)
        """
    )
    together = sessions.run()
    assert together.status == pytest.ExitCode.INTERRUPTED
    assert together.counts == {"passed": 1, "skipped": 3}
    assert "enough seen" in together.text
