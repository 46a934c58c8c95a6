"""Trials in flight that ask a model: nobody waits for anybody else's answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pydantic_ai.direct  # each inner session would load it anew
import pydantic_ai.models.openai  # noqa: F401
import pytest

import kensa.model_judge  # noqa: F401
from seatrial.testing import ErrorReply, ModelServer, ReceivedRequest, Reply, StructuredReply

from .sessions import TOGETHER, Parity, Sessions

PATIENCE_S = 30


class Provider:
    """Answers by what the judged output says, once as many questions are in flight as trials.

    Attributes:
        together: Whether it waits for that.
        held: Outputs that hold "held" are not answered before this is set.
    """

    def __init__(self) -> None:
        self.together = True
        self.held = threading.Event()
        self._change = threading.Condition()
        self._arrived: Counter[int] = Counter()

    def answer(self, request: ReceivedRequest) -> Reply:
        output = request.messages[-1].text
        if "held" in output:
            self.held.wait(PATIENCE_S)
        elif self.together and not self._have_met(int(os.environ["TRIALS_IN_FLIGHT"])):
            return ErrorReply(status=400, message="the others never came")
        if "trouble" in output:
            return ErrorReply(status=401, message="closed")
        return StructuredReply({"reasoning": "ok", "evidence": [], "passed": "rude" not in output})

    def _have_met(self, parties: int) -> bool:
        with self._change:
            self._arrived[parties] += 1
            self._change.notify_all()
            return self._change.wait_for(
                lambda: self._arrived[parties] >= parties, timeout=PATIENCE_S
            )


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture(autouse=True)
def server(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(answer=provider.answer) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none-1234567890")
        monkeypatch.setenv("KENSA_JUDGE_MODEL", "openai:gpt-4o-mini")
        monkeypatch.setenv("SEATRIAL_NO_CACHE", "1")
        yield running
        provider.held.set()
        _end_of_trial_threads()


def _end_of_trial_threads() -> None:
    """Wait for bodies that were given up on: they are not to reach the next test's server."""
    for thread in threading.enumerate():
        if thread.name.startswith(("trial ", "seatrial-trial")):
            thread.join(PATIENCE_S)


SUITE = """
    from kensa.pytest import judge_async

    KINDS = ["fine"] * 5 + ["rude"] * 2 + ["trouble"] * 3

    @pytest.mark.kensa(trials={trials})
    {test}(request):
        trial = int(request.node.name[:-1].rpartition("trial")[2])
        result = {ask}(f"{{KINDS[trial % 10]}} {{trial}}", "polite")
        event("judged", request.node.name)
        assert result.passed, result.reasoning
        record_tool_call("after")
    """

WAYS = {
    "judge in an async test": ("async def test_it", "judge"),
    "judge_async": ("async def test_it", "await judge_async"),
    "judge in a thread of an async test": ("async def test_it", "await asyncio.to_thread"),
    "judge in a sync test": ("def test_it", "judge"),
}


def suite_of(way: str, trials: int = TOGETHER) -> str:
    test, ask = WAYS[way]
    text = SUITE.format(test=test, ask=ask, trials=trials)
    return text.replace("to_thread(", "to_thread(judge, ")


@pytest.mark.parametrize("way", WAYS)
def test_all_in_flight_are_judged_at_once_and_say_what_they_say_alone(
    parity: Parity, server: ModelServer, way: str
) -> None:
    together = parity(suite_of(way))

    assert server.most_in_flight == TOGETHER
    assert len(server.requests) == 2 * TOGETHER
    assert together.counts == {"passed": 10, "failed": 10}
    owners = Counter(
        (record["outcome"], (record["failure"] or {}).get("owner"))
        for record in together.recording.run["records"].values()
    )
    assert owners == {("passed", None): 10, ("failed", "agent"): 4, ("error", "judge"): 6}
    (line,) = [line for line in together.lines if line.startswith("models, judge: ")]
    assert line.startswith("models, judge: 20 calls (6 failed), 168 tokens in, 42 out, $")


def test_more_trials_than_may_be_in_flight_are_judged_in_turn(
    sessions: Sessions, provider: Provider, server: ModelServer
) -> None:
    provider.together = False
    sessions.write(suite_of("judge in an async test", 30))

    together = sessions.run(in_flight=5)

    assert together.counts == {"passed": 15, "failed": 15}
    assert len(server.requests) == 30
    assert server.most_in_flight <= 5


def test_a_panel_of_each_trial_sits_at_once(
    parity: Parity, provider: Provider, server: ModelServer
) -> None:
    provider.together = False
    parity(
        """
        from seatrial.panel import Panel

        @pytest.mark.kensa(trials=4)
        async def test_it(request):
            await meet_async(4)
            assert judge(request.node.name, "polite", panel=Panel(samples=3)).passed
        """
    )

    assert len(server.requests) == 2 * 4 * 3


def test_sync_code_between_two_waits_keeps_its_context_and_its_output(
    parity: Parity, provider: Provider
) -> None:
    provider.together = False
    together = parity(
        """
        whose = contextvars.ContextVar("whose")

        async def deeper(name):
            whose.set(name)
            try:
                for number in range(3):
                    print(f"before {number} of {name}")
                    assert judge(f"{name} {number}", "polite").passed
                    assert whose.get() == name
                    await asyncio.sleep(0)
            finally:
                print(f"end of {name}")

        @pytest.mark.kensa(trials=10)
        async def test_it(request):
            await meet_async(10)
            async with asyncio.timeout(60):
                await deeper(request.node.name)
            assert whose.get() == request.node.name
            assert request.node.name.startswith("never"), "shown"
        """
    )

    assert together.counts == {"failed": 10}
    for index in range(1, 11):
        name = f"test_it[trial{index}]"
        (report,) = [
            report
            for report in together.recording.reports[f"test_suite.py::{name}"]
            if report["when"] == "call"
        ]
        assert report["sections"] == [
            [
                "Captured stdout call",
                "".join(f"before {number} of {name}\n" for number in range(3)) + f"end of {name}\n",
            ]
        ]


@pytest.mark.parametrize(
    "asking",
    [
        "result = await asyncio.create_task(child())",
        "result, _ = await asyncio.gather(child(), child())",
        "result = await asyncio.wait_for(child(), 60)",
    ],
)
def test_in_a_task_of_its_own_the_judge_blocks_and_answers(
    parity: Parity, provider: Provider, asking: str
) -> None:
    provider.together = False
    together = parity(
        f"""
        @pytest.mark.kensa(trials=3)
        async def test_it(request):
            async def child():
                return judge(request.node.name, "polite")

            await meet_async(3)
            {asking}
            assert result.passed
        """
    )

    assert together.counts == {"passed": 3}


# -- waits that end early -----------------------------------------------------------------


def calls_of(record: dict[str, Any]) -> list[str | None]:
    return [call["failed"] for call in record["model_calls"]]


@pytest.mark.parametrize("way", WAYS)
def test_a_time_limit_ends_the_wait_of_each_trial_alone(
    sessions: Sessions, provider: Provider, server: ModelServer, way: str
) -> None:
    provider.together = False
    sessions.write(
        suite_of(way, 6).replace('"fine"] * 5', '"fine", "held", "held", "fine", "held"]')
    )

    for in_flight in (1, 6):
        sessions.forget()
        before = len(server.requests)
        session = sessions.run("--trial-timeout=1", in_flight=in_flight)

        for trial in (1, 2, 4):
            record = session.record(f"test_it[trial{trial}]")
            assert (record["outcome"], record["failure"]["kind"]) == ("error", "timeout")
            assert calls_of(record) == ["cut short"]
            assert record["judgements"] == []
        assert session.record("test_it[trial3]")["outcome"] == "passed"
        assert session.record("test_it[trial5]")["outcome"] == "failed"
        assert len(server.requests) - before == 6
        (line,) = [line for line in session.lines if line.startswith("models, judge: ")]
        assert "6 calls (3 failed)" in line
        assert "more than $" in line


@pytest.mark.parametrize("in_flight", [1, 3])
def test_a_sync_body_that_is_given_up_on_asks_nothing_more(
    sessions: Sessions, provider: Provider, server: ModelServer, in_flight: int
) -> None:
    provider.together = False
    sessions.write(
        """
        @pytest.mark.kensa(trials=3)
        def test_it(request):
            for number in range(5):
                try:
                    judge(f"held {number} {request.node.name}", "polite")
                except Exception:
                    pass  # it does not know when to stop
        """
    )

    session = sessions.run("--trial-timeout=0.5", in_flight=in_flight)
    _end_of_trial_threads()

    assert session.counts == {"failed": 3}
    assert len(server.requests) == 3
    assert not provider.held.is_set()


@pytest.mark.parametrize("way", ["judge in an async test", "judge_async", "judge in a sync test"])
def test_after_a_failure_with_x_nobody_waits_for_an_answer(
    sessions: Sessions, provider: Provider, server: ModelServer, way: str
) -> None:
    provider.together = False
    kinds = '["held"] * 3 + ["rude"] + ["held"] * 6'
    sessions.write(suite_of(way, 6).replace('["fine"] * 5 + ["rude"] * 2 + ["trouble"] * 3', kinds))

    session = sessions.run("-x", in_flight=6)

    assert session.status == pytest.ExitCode.TESTS_FAILED
    assert session.record("test_it[trial3]")["outcome"] == "failed"
    for trial in (1, 2, 4, 5, 6):
        record = session.record(f"test_it[trial{trial}]")
        assert record["failure"]["kind"] == "cancelled"
        assert calls_of(record) in (["cut short"], [])  # some had not asked yet
    assert not provider.held.is_set()


@pytest.mark.parametrize("in_flight", [1, 4])
@pytest.mark.parametrize("way", ["judge in an async test", "judge_async", "judge in a sync test"])
def test_ctrl_c_ends_the_wait(
    sessions: Sessions,
    provider: Provider,
    server: ModelServer,
    pytester: pytest.Pytester,
    way: str,
    in_flight: int,
) -> None:
    provider.together = False
    sessions.write(suite_of(way, 4).replace('["fine"] * 5', '["held"] * 5'))
    options = ["-p", "no:cacheprovider", f"--trial-concurrency={in_flight}"]
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *options],
        cwd=pytester.path,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TRIALS_IN_FLIGHT": str(in_flight)},
    ) as process:
        for _ in range(PATIENCE_S * 20):
            if len(server.requests) == in_flight or process.poll() is not None:
                break
            threading.Event().wait(0.05)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert "INCOMPLETE RUN" in output
    assert f"models, judge: {in_flight} call" in output
    assert len(server.requests) == in_flight
    assert not provider.held.is_set()
