"""Time limits, with many trials in flight: each trial ends by itself, and late code reaches nobody."""

from __future__ import annotations

import pytest

from .sessions import Parity, Sessions

HELD = """
    held = []

    def hold():
        held.append(threading.Event())
        held[-1].wait(3600)

    @pytest.fixture(scope="session", autouse=True)
    def release():
        yield
        for waiting in held: waiting.set()
    """
TIMED = """
    @pytest.fixture
    def own(request):
        yield
        event("down", request.node.name)

    @pytest.mark.trial(n=4{limit})
    async def test_async(own, request):
        await meet_async(4)
        record("unsafe" if request.node.name.endswith("3]") else "safe", "in time")
        if not request.node.name.endswith("0]"): await asyncio.sleep(3600)

    @pytest.mark.trial(n=4{limit})
    def test_sync(own, request):
        meet(4)
        record("unsafe" if request.node.name.endswith("3]") else "safe", "in time")
        if not request.node.name.endswith("0]"): hold()
    """


@pytest.mark.parametrize("where", ["the session", "the marker"])
def test_a_time_limit_ends_each_trial_by_itself(parity: Parity, where: str) -> None:
    if where == "the session":
        together = parity(HELD + TIMED.format(limit=""), "--trial-timeout=0.3")
        words = "the trial timed out after 0.3 s (--trial-timeout)"
    else:
        together = parity(HELD + TIMED.format(limit=", timeout_s=0.3"), "--trial-timeout=3000")
        words = "the trial timed out after 0.3 s (timeout_s on its marker)"
    for test in ("test_async", "test_sync"):
        assert together.record(f"{test}[trial-0]")["outcome"] == "passed"
        for index in (1, 2):
            record = together.record(f"{test}[trial-{index}]")
            assert record["outcome"] == "error"
            assert record["failure"]["kind"] == "timeout"
            assert record["failure"]["message"].endswith(words)
            assert [result["summary"] for result in record["results"]] == ["in time"]
        assert together.record(f"{test}[trial-3]")["outcome"] == "failed"
        assert together.noted(f"{test}[trial-1]") == ["down"]


def test_a_trial_that_times_out_stops_a_session_that_stops_at_failures(sessions: Sessions) -> None:
    sessions.write(
        HELD
        + """
    @pytest.mark.trial(n=2, timeout_s=0.2)
    def test_limited(): meet(4, "all"); hold()

    @pytest.mark.trial(n=2)
    def test_unlimited(): meet(4, "all"); hold()
    """
    )
    together = sessions.run("-x")
    assert together.status == pytest.ExitCode.TESTS_FAILED
    assert together.record("test_unlimited[trial-1]")["failure"]["kind"] == "cancelled"
    kinds = {together.record(f"test_limited[trial-{i}]")["failure"]["kind"] for i in (0, 1)}
    assert "timeout" in kinds


def test_what_a_trial_records_too_late_is_nobodys(parity: Parity) -> None:
    together = parity(
        HELD
        + """
    from seatrial.scope import current_scope
    late = threading.Semaphore(0)

    @pytest.mark.trial(n=3, timeout_s=0.2)
    def test_it():
        record("safe", "in time")
        hold()
        record("unsafe", "late")
        event(f"late scope: {current_scope().phase}")
        print("printed late")
        late.release()

    @pytest.mark.trial(n=1, concurrency=1)
    def test_after():
        for waiting in held: waiting.set()
        for _ in range(3): assert late.acquire(timeout=20)
    """
    )
    assert together.noted() == ["late scope: over"] * 3
    for index in range(3):
        record = together.record(f"test_it[trial-{index}]")
        assert [result["summary"] for result in record["results"]] == ["in time"]
    assert together.record("test_after[trial-0]")["results"] == []
