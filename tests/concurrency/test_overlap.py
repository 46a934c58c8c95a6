"""That trials are in flight together, and how many: shown by barriers, without clocks."""

from __future__ import annotations

import pytest

from .sessions import TOGETHER, Parity, Sessions


def test_twenty_sync_trials_block_at_the_same_time(sessions: Sessions) -> None:
    sessions.write(
        """
        barrier = threading.Barrier(20)

        @pytest.mark.trial(n=20)
        def test_it(): barrier.wait(30)
        """
    )
    session = sessions.run()
    assert session.counts == {"passed": 20}
    assert session.recording.most_in_flight == 20


def test_twenty_async_trials_wait_at_the_same_time(sessions: Sessions) -> None:
    sessions.write(
        """
        barrier = asyncio.Barrier(20)

        @pytest.mark.trial(n=20)
        async def test_it():
            async with asyncio.timeout(30): await barrier.wait()
        """
    )
    session = sessions.run()
    assert session.counts == {"passed": 20}
    assert session.recording.most_in_flight == 20


def test_trials_of_several_tests_and_cases_are_in_flight_together(sessions: Sessions) -> None:
    sessions.write(
        """
        barrier = threading.Barrier(12)

        @pytest.mark.trial(n=2)
        def test_one(): barrier.wait(30)

        @pytest.mark.trial(n=2)
        @pytest.mark.parametrize("letter", "abc")
        def test_two(letter): barrier.wait(30)

        @pytest.mark.kensa(trials=2)
        @pytest.mark.parametrize("case", [kensa_case(id=i, input=1) for i in "xy"])
        def test_three(case): barrier.wait(30)
        """
    )
    session = sessions.run()
    assert session.counts == {"passed": 12}


def test_sync_and_async_trials_are_in_flight_together(sessions: Sessions) -> None:
    sessions.write(
        """
        barrier = threading.Barrier(6)

        @pytest.mark.trial(n=3)
        def test_sync(): barrier.wait(30)

        @pytest.mark.trial(n=3)
        async def test_async(): await asyncio.to_thread(barrier.wait, 30)
        """
    )
    assert sessions.run().counts == {"passed": 6}


@pytest.mark.parametrize("in_flight", [1, 2, 5, TOGETHER])
def test_no_more_trials_are_in_flight_than_asked_for(sessions: Sessions, in_flight: int) -> None:
    sessions.write(
        """
        at_once = int(os.environ["TRIALS_IN_FLIGHT"])
        barrier = threading.Barrier(at_once)
        lock = threading.Lock()
        inside = 0

        @pytest.mark.trial(n=40)
        def test_it():
            global inside
            with lock: inside += 1
            assert inside <= at_once
            barrier.wait(30)
            with lock: inside -= 1
            barrier.wait(30)
        """
    )
    session = sessions.run(in_flight=in_flight)
    assert session.counts == {"passed": 40}
    assert session.recording.most_in_flight == in_flight


@pytest.mark.parametrize("mark", ["trial(n=6, concurrency=2)", "kensa(trials=6, concurrency=2)"])
def test_a_marker_caps_how_many_trials_of_its_test_are_in_flight(
    sessions: Sessions, mark: str
) -> None:
    sessions.write(
        f"""
        lock = threading.Lock()
        inside = 0
        barrier = threading.Barrier(2)

        @pytest.mark.{mark}
        def test_it():
            global inside
            with lock:
                inside += 1
                assert inside <= 2
            barrier.wait(30)
            with lock: inside -= 1
            barrier.wait(30)
        """
    )
    session = sessions.run()
    assert session.counts == {"passed": 6}
    assert session.recording.most_in_flight == 2


def test_a_capped_test_shares_the_flight_with_others(sessions: Sessions) -> None:
    sessions.write(
        """
        inside = 0

        @pytest.mark.trial(n=2)
        async def test_before(): await meet_async(5, "all")

        @pytest.mark.trial(n=3, concurrency=3)
        async def test_capped(): await meet_async(5, "all")
        """
    )
    assert sessions.run().counts == {"passed": 5}


def test_concurrency_of_one_forbids_company_and_the_summary_says_so(parity: Parity) -> None:
    together = parity(
        """
        inside = 0

        @pytest.mark.trial(n=3)
        async def test_before(): await meet_async(3); event("before")

        @pytest.mark.trial(n=3, concurrency=1)
        async def test_alone():
            global inside
            inside += 1
            event(f"alone {inside}")
            await asyncio.sleep(0)
            inside -= 1

        @pytest.mark.trial(n=3)
        async def test_after(): await meet_async(3); event("after")
        """
    )
    assert together.noted() == [*["before"] * 3, *["alone 1"] * 3, *["after"] * 3]
    assert "3 trials ran one at a time: concurrency=1 on the marker" in together.lines


def test_the_order_of_starts_is_the_order_of_the_file(sessions: Sessions) -> None:
    sessions.write(
        """
        @pytest.mark.trial(n=12)
        async def test_it(request): event(request.node.name, "starts")
        """
    )
    together = sessions.run(in_flight=5)
    assert together.noted("starts") == [f"test_it[trial-{index}]" for index in range(12)]


def test_a_place_is_free_again_as_soon_as_a_trial_ends(sessions: Sessions) -> None:
    # trial-0 waits for trial-5, which can only start when others have made room.
    sessions.write(
        """
        last = asyncio.Event()

        @pytest.mark.trial(n=6)
        async def test_it(request):
            if request.node.name.endswith("5]"): last.set()
            if request.node.name.endswith("0]"):
                async with asyncio.timeout(30): await last.wait()
        """
    )
    together = sessions.run(in_flight=2)
    assert together.counts == {"passed": 6}
    assert together.recording.order[-1].endswith("test_it[trial-0]")


def test_auto_picks_a_number_that_lets_trials_meet(sessions: Sessions) -> None:
    sessions.write(
        """
        barrier = threading.Barrier(32)

        @pytest.mark.trial(n=32)
        def test_it(): barrier.wait(30)
        """
    )
    session = sessions.run("--trial-concurrency=auto")
    assert session.counts == {"passed": 32}


def test_the_configuration_file_may_set_the_number(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntrial_concurrency = 7\n")
    pytester.makepyfile(
        test_suite="""
        import threading, pytest
        barrier = threading.Barrier(7)

        @pytest.mark.trial(n=7)
        def test_it(): barrier.wait(30)
        """
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=7)


def test_a_rate_spreads_the_starts_and_changes_nothing_else(parity: Parity) -> None:
    suite = """
        @pytest.mark.trial(n=6)
        async def test_it(request): record("safe", request.node.name)
        """
    for rate in ("400/s", "60000/m", "1000000/h", "500"):
        together = parity(suite, f"--trial-rate={rate}")
        assert together.counts == {"passed": 6}


def test_reported_durations_leave_out_the_time_that_a_trial_waited_for_its_turn(
    sessions: Sessions,
) -> None:
    # All bodies end in one turn of the loop; then the first tear-down keeps the process busy.
    sessions.write(
        """
        import time
        busy = []

        @pytest.fixture
        def agent():
            yield
            if not busy:
                busy.append(True)
                time.sleep(0.5)

        @pytest.mark.trial(n=4)
        async def test_it(agent): await meet_async(4)
        """
    )
    together = sessions.run("--durations=0", "-vv")
    assert together.counts == {"passed": 4}
    durations = together.recording.durations
    assert max(durations[nodeid, "call"] for nodeid in together.recording.order) < 0.5
    assert max(durations[nodeid, "teardown"] for nodeid in together.recording.order) >= 0.5
    assert "slowest durations" in together.text
