"""Outcomes and verdicts, with many trials in flight as with one."""

from __future__ import annotations

from .sessions import Parity, Sessions

TRIAL = """
    @pytest.fixture
    def trial(request):
        return int("".join(c for c in request.node.name.rpartition("trial")[2] if c.isdigit()))
"""


def test_skips_of_every_kind_are_skips_of_their_trial(parity: Parity) -> None:
    together = parity(
        TRIAL
        + """
    pytestmark = pytest.mark.trial(n=3)

    @pytest.mark.skip(reason="not today")
    def test_skip_mark(): pass

    @pytest.mark.skipif(sys.version_info > (3,), reason="too new")
    async def test_skipif_mark(): pass

    def test_skip_in_the_body(trial):
        meet(3)
        if trial == 1: pytest.skip("in the body")

    async def test_skip_in_an_async_body(trial):
        await meet_async(3)
        record("unsafe", "before the skip")
        if trial != 1: pytest.skip("in the async body")

    def test_importorskip(trial):
        meet(3)
        pytest.importorskip("no_such_module_anywhere")

    @pytest.fixture
    def skipping(trial):
        if trial == 2: pytest.skip("in the fixture")

    def test_skip_in_a_fixture(skipping): meet(2)
    """
    )
    assert together.counts == {"skipped": 13, "passed": 4, "failed": 1}
    assert (
        together.report("test_skip_in_the_body[trial-1]")["longrepr"][2] == "Skipped: in the body"
    )


def test_expected_failures_strict_and_not_are_those_of_their_trial(parity: Parity) -> None:
    together = parity(
        TRIAL
        + """
    pytestmark = pytest.mark.trial(n=2)

    @pytest.mark.xfail(reason="known")
    def test_xfails(): meet(2); assert False

    @pytest.mark.xfail(reason="was known")
    async def test_xpasses(): await meet_async(2)

    @pytest.mark.xfail(strict=True, reason="must fail")
    async def test_strict(trial): await meet_async(2); assert trial == 1

    @pytest.mark.xfail(raises=OSError, reason="only this")
    def test_raises(trial): meet(2); raise (OSError, ValueError)[trial]("either")

    @pytest.mark.xfail(run=False, reason="never")
    def test_not_run(): raise SystemExit

    async def test_in_the_body(trial):
        await meet_async(2)
        if trial == 1: pytest.xfail("decided in the body")
    """
    )
    assert together.counts == {"xfailed": 7, "xpassed": 2, "passed": 1, "failed": 2}
    assert together.report("test_strict[trial-1]")["longrepr"] == "[XPASS(strict)] must fail"


def test_assertions_exceptions_and_failures_have_the_tracebacks_that_they_have_alone(
    parity: Parity,
) -> None:
    together = parity(
        """
        pytestmark = pytest.mark.trial(n=3)

        def answer(): raise ConnectionError("the agent hung up")
        async def answer_async(): await asyncio.sleep(0); answer()

        def test_assertion(request):
            mine = {"name": request.node.name, "steps": list(range(8))}
            meet(3)
            assert mine == {"name": "other", "steps": [0, 1]}

        async def test_async_assertion(request):
            mine = [request.node.name]
            await meet_async(3)
            assert mine == ["other"], "not as it should be"

        def test_exception(): meet(3); answer()

        async def test_async_exception():
            await meet_async(3)
            try:
                await answer_async()
            except ConnectionError as error:
                raise ValueError("no answer") from error

        async def test_task_group():
            await meet_async(3)
            async with asyncio.TaskGroup() as group:
                group.create_task(answer_async())

        def test_fail(): meet(3); pytest.fail("as asked", pytrace=False)

        async def test_raises():
            await meet_async(3)
            with pytest.raises(ConnectionError, match="hung up"): await answer_async()
            with pytest.raises(ConnectionError): pass
        """
    )
    assert together.counts == {"failed": 21}
    assert "no answer" in together.report("test_async_exception[trial-2]")["longrepr"]
    assert "test_assertion[trial-1]" in together.report("test_assertion[trial-1]")["longrepr"]


def test_tracebacks_of_every_style_that_hides_machinery_are_the_same(parity: Parity) -> None:
    suite = """
        pytestmark = pytest.mark.trial(n=2)

        @pytest.fixture
        def broken(): meet(2); raise OSError("no fixture")

        def test_sync(): meet(2); value = 1; assert value == 2
        async def test_async(): await meet_async(2); value = 1; assert value == 2
        def test_fixture(broken): pass
        """
    for style in ("long", "short", "line"):
        together = parity(suite, f"--tb={style}", "--showlocals")
        assert together.counts == {"failed": 4, "errors": 2}


def test_safety_outcomes_are_tolerated_and_promoted_as_groups_allow(parity: Parity) -> None:
    together = parity(
        TRIAL
        + """
    pytestmark = pytest.mark.harm(HarmCategory.JAILBREAK, "own words")

    @pytest.mark.trial(n=4)
    def test_safe(): meet(4); record("safe", "defended")

    @pytest.mark.trial(n=4, threshold=0.5)
    def test_unsafe(trial): meet(4); record("unsafe" if trial == 2 else "safe", f"trial {trial}")

    @pytest.mark.trial(n=4, threshold=0.5)
    async def test_tolerated(trial):
        await meet_async(4)
        if trial == 1: raise RuntimeError("net down")
        record("undetermined" if trial == 2 else "safe")

    @pytest.mark.trial(n=4, threshold=0.75)
    async def test_error_results(trial):
        await meet_async(4)
        record("error" if trial == 0 else "safe", "the driver broke")

    @pytest.mark.trial(n=2)
    @pytest.mark.parametrize("letter", ["a", "b"])
    def test_asserts(letter, trial):
        meet(4)
        record("safe")
        assert (letter, trial) != ("b", 1), "not as it should be"

    @pytest.mark.trial(n=3)
    async def test_nothing_recorded(): await meet_async(3)
    """
    )
    assert together.status == 1
    assert together.counts == {"passed": 18, "tolerated": 3, "failed": 2}
    assert together.record("test_tolerated[trial-1]")["outcome"] == "error"


def test_a_group_that_can_no_longer_pass_fails_once_whoever_misses_last(sessions: Sessions) -> None:
    # Which trial is promoted depends on who ends first: so the number is what must agree.
    sessions.write(
        """
        @pytest.mark.trial(n=4, threshold=0.75)
        async def test_misses():
            await meet_async(4)
            record("undetermined")
        """
    )
    serial, together = sessions.both()
    assert serial.counts == together.counts == {"tolerated": 1, "failed": 3}
    assert serial.recording.run == together.recording.run


def test_eval_verdicts_of_every_kind_are_the_same(parity: Parity) -> None:
    together = parity(
        TRIAL
        + """
    CASES = [kensa_case(id=name, input=name) for name in ("one", "two")]

    @pytest.fixture
    def kensa_run():
        def run(case): return {"answer": case.input}
        return run

    @pytest.fixture
    def broken(trial):
        if trial == 2: raise ConnectionError("no database")

    @pytest.mark.kensa(trials=3)
    @pytest.mark.parametrize("case", CASES)
    def test_pass(case, kensa_run):
        meet(6)
        assert case.run(kensa_run) == {"answer": case.input}

    @pytest.mark.kensa(trials=3)
    @pytest.mark.parametrize("case", CASES)
    def test_flaky(case, kensa_run, trial):
        meet(6)
        case.run(kensa_run)
        assert (case.id, trial) != ("two", 2)

    @pytest.mark.kensa(trials=2)
    @pytest.mark.parametrize("case", CASES[:1])
    def test_fail(case, kensa_run): meet(2); assert case.run(kensa_run) is None

    @pytest.mark.kensa(trials=3)
    @pytest.mark.parametrize("case", CASES[:1])
    def test_error(case, kensa_run, broken): case.run(kensa_run)

    @pytest.mark.kensa(trials=2)
    @pytest.mark.parametrize("case", CASES[:1])
    def test_skipped(case): meet(2); pytest.skip("not today")
    """
    )
    verdicts = together.recording.run["verdicts"].values()
    assert {verdict.partition("'")[2].partition("'")[0] for verdict in verdicts if verdict != "None"} == {
        "pass", "flaky", "fail", "error"
    }  # fmt: skip


def test_trials_mixed_with_plain_tests_run_in_the_files_order(parity: Parity) -> None:
    together = parity(
        """
        def test_before(): event("before")

        @pytest.mark.trial(n=3)
        def test_one(): meet(6, "both"); event("trial")

        @pytest.mark.kensa(trials=3)
        def test_two(): meet(6, "both"); event("trial")

        def test_between(): event("between")

        @pytest.mark.asyncio
        async def test_plain_async(): event("plain async")

        @pytest.mark.trial(n=3)
        async def test_three(): await meet_async(3); event("async trial")

        def test_after(): event("after")
        """
    )
    assert together.noted() == [
        "before", *["trial"] * 6, "between", "plain async", *["async trial"] * 3, "after"
    ]  # fmt: skip
    assert together.recording.most_in_flight >= 6


def test_the_environment_names_the_running_test_or_its_file_where_several_run(
    parity: Parity,
) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=4)
        async def test_it():
            await meet_async(4)
            assert os.environ["PYTEST_CURRENT_TEST"].startswith("test_suite.py")

        def test_after(): assert os.environ["PYTEST_CURRENT_TEST"].endswith("::test_after (call)")
        """
    )
    assert together.counts == {"passed": 5}
