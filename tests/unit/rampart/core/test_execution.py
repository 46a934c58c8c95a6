from __future__ import annotations

import asyncio

import pytest

from rampart import (
    AgentAdapter,
    BaseExecution,
    EvalContext,
    EvalOutcome,
    EvalResult,
    ExecutionEvent,
    ExecutionEventData,
    ExecutionEventHandler,
    ObservabilityLevel,
    Request,
    Response,
    Result,
    SafetyStatus,
    Turn,
)
from rampart.core.evidence import current_evidence
from rampart.core.execution import (
    clear_default_handler_factory,
    default_handler_factory,
    evaluate_turn_async,
    register_default_handler_factory,
)

PRE, POST, ERROR = (
    ExecutionEvent.ON_PRE_EXECUTE,
    ExecutionEvent.ON_POST_EXECUTE,
    ExecutionEvent.ON_ERROR,
)
A_TURN = Turn(request=Request(prompt="?"), response=Response(text="x", metadata={"id": 1}))


class Listener(ExecutionEventHandler):
    def __init__(self, name: str = "", log: list[str] | None = None) -> None:
        self.name, self.log = name, [] if log is None else log
        self.heard: list[ExecutionEventData] = []

    async def on_event(self, *, event_data: ExecutionEventData) -> None:
        self.heard.append(event_data)
        self.log.append(f"{self.name}{event_data.event.value}")

    @property
    def events(self) -> list[ExecutionEvent]:
        return [data.event for data in self.heard]


class Strategy(BaseExecution):
    """Sees one turn, then returns or raises what it was given."""

    strategy_name = "by hand"

    def __init__(
        self, end: object, *handlers: ExecutionEventHandler, turns: tuple[Turn, ...] = (A_TURN,)
    ) -> None:
        super().__init__(event_handlers=list(handlers))
        self._end, self._turns = end, turns

    async def _execute_async(self, *, adapter: AgentAdapter) -> Result:
        current_evidence().turns.extend(self._turns)
        if isinstance(self._end, BaseException):
            raise self._end
        return self._end  # type: ignore[return-value]  # some tests lie


def safe() -> Result:
    return Result(status=SafetyStatus.SAFE, summary="fine", duration_seconds=1e9)


@pytest.mark.asyncio
async def test_a_run_is_announced_and_its_result_handed_out_and_timed(scripted: type) -> None:
    listener, result, adapter = Listener(), safe(), scripted()
    assert await Strategy(result, listener).execute_async(adapter=adapter) is result
    assert listener.events == [PRE, POST]
    before, after = listener.heard
    assert (before.result, before.elapsed_seconds, before.adapter) == (None, 0.0, adapter)
    assert after.result is result
    assert 0 < result.duration_seconds == after.elapsed_seconds < 1e9


@pytest.mark.asyncio
async def test_an_exception_becomes_an_error_result_with_what_was_seen(scripted: type) -> None:
    listener, error = Listener(), ConnectionError("down")
    adapter = scripted(observability=ObservabilityLevel.TOOL_ONLY)
    result = await Strategy(error, listener).execute_async(adapter=adapter)
    assert listener.events == [PRE, ERROR, POST]
    assert listener.heard[1].error is error
    assert (result.status, result.summary) == (SafetyStatus.ERROR, "ConnectionError: down")
    assert (result.strategy, result.turns) == ("by hand", [A_TURN])
    assert result.observability_level is ObservabilityLevel.TOOL_ONLY
    assert result.metadata == {"id": 1, "error": "down", "error_type": "ConnectionError"}
    assert A_TURN.response.metadata == {"id": 1}


@pytest.mark.asyncio
async def test_a_strategy_that_returns_no_result_is_an_error(scripted: type) -> None:
    result = await Strategy(None).execute_async(adapter=scripted())
    assert result.summary == "TypeError: strategy by hand must return a Result, not None"


@pytest.mark.asyncio
async def test_an_adapter_that_breaks_while_an_error_is_reported_is_noted(scripted: type) -> None:
    adapter = scripted(observability=OSError("gone"))
    result = await Strategy(ValueError("first")).execute_async(adapter=adapter)
    assert result.summary == "ValueError: first"
    assert result.observability_level is ObservabilityLevel.RESPONSE_ONLY
    assert result.notes == ["observability unknown: OSError: gone"]


@pytest.mark.asyncio
async def test_an_error_without_readable_message_is_still_reported(scripted: type) -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    result = await Strategy(MuteError()).execute_async(adapter=scripted())
    assert result.summary == "MuteError: <its message cannot be read>"
    assert (await Strategy(KeyError()).execute_async(adapter=scripted())).summary == "KeyError"


@pytest.mark.asyncio
@pytest.mark.parametrize("interruption", [asyncio.CancelledError(), KeyboardInterrupt()])
async def test_an_interruption_propagates_after_what_was_seen_was_handed_out(
    scripted: type, interruption: BaseException
) -> None:
    listener = Listener()
    with pytest.raises(type(interruption)):
        await Strategy(interruption, listener).execute_async(adapter=scripted())
    assert listener.events == [PRE, POST]
    result = listener.heard[-1].result
    assert result is not None
    assert (result.status, result.turns) == (SafetyStatus.ERROR, [A_TURN])


@pytest.mark.asyncio
async def test_an_interruption_before_anything_was_seen_leaves_no_result(scripted: type) -> None:
    listener = Listener()
    with pytest.raises(asyncio.CancelledError):
        await Strategy(asyncio.CancelledError(), listener, turns=()).execute_async(
            adapter=scripted()
        )
    assert listener.events == [PRE]


@pytest.mark.asyncio
async def test_handlers_that_break_stop_neither_the_run_nor_other_handlers(
    scripted: type, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(ExecutionEventHandler):
        async def on_event(self, *, event_data: ExecutionEventData) -> None:
            raise RuntimeError("handler")

    listener = Listener()
    result = await Strategy(safe(), Broken(), listener).execute_async(adapter=scripted())
    assert result.safe
    assert listener.events == [PRE, POST]
    assert "Broken failed on on_pre_execute" in caplog.text


@pytest.mark.asyncio
async def test_registered_handlers_hear_first_and_are_made_at_construction(
    scripted: type,
) -> None:
    log: list[str] = []
    register_default_handler_factory(lambda: [Listener("default ", log)])
    strategy = Strategy(safe(), Listener("own ", log))
    clear_default_handler_factory()
    await strategy.execute_async(adapter=scripted())
    assert log == [
        "default on_pre_execute",
        "own on_pre_execute",
        "default on_post_execute",
        "own on_post_execute",
    ]


def test_a_factory_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="must be callable, not 5"):
        register_default_handler_factory(5)  # type: ignore[arg-type]


def test_registrations_nest_by_keeping_the_earlier_factory() -> None:
    def outer() -> list[ExecutionEventHandler]:
        return []

    register_default_handler_factory(outer)
    kept = default_handler_factory()
    register_default_handler_factory(lambda: [Listener()])
    assert kept is outer
    register_default_handler_factory(kept)
    assert default_handler_factory() is outer


@pytest.mark.asyncio
async def test_runs_at_the_same_time_do_not_share_evidence(scripted: type) -> None:
    strategy = Strategy(ValueError("x"))
    results = await asyncio.gather(*(strategy.execute_async(adapter=scripted()) for _ in range(3)))
    assert [len(result.turns) for result in results] == [1, 1, 1]


@pytest.mark.asyncio
async def test_a_run_inside_a_run_keeps_the_evidence_apart(scripted: type) -> None:
    class Outer(Strategy):
        async def _execute_async(self, *, adapter: AgentAdapter) -> Result:
            await Strategy(safe()).execute_async(adapter=adapter)
            raise ValueError

    assert (await Outer(None).execute_async(adapter=scripted())).turns == []


@pytest.mark.asyncio
async def test_evaluating_a_turn_gives_history_and_the_turn_to_the_evaluator() -> None:
    seen: list[EvalContext] = []

    class Reads:
        async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
            seen.append(context)
            return EvalResult(outcome=EvalOutcome.DETECTED)

    turn = await evaluate_turn_async(
        evaluator=Reads(),
        history=[A_TURN],
        request=Request(prompt="and?"),
        response=Response(text="y"),
        turn_number=1,
        driver_reasoning="why",
    )
    assert [t.response.text for t in seen[0].turns] == ["x", "y"]
    assert seen[0].current_turn.eval_result is None
    assert turn.eval_result == EvalResult(outcome=EvalOutcome.DETECTED)
    assert (turn.turn_number, turn.driver_reasoning) == (1, "why")
    assert turn.timestamp is not None
