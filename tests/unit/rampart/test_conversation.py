"""What attacks and probes share; seen through attacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC

import pytest

from rampart import (
    Attacks,
    EvalContext,
    EvalOutcome,
    EvalResult,
    ExecutionEventData,
    ExecutionEventHandler,
    ObservabilityLevel,
    Payload,
    PromptDecision,
    Request,
    Response,
    ResponseContains,
    Result,
    SafetyStatus,
    ToolCall,
    ToolCalled,
    Turn,
)

SENT = Response(text="done", tool_calls=[ToolCall(name="send")])
CALMLY = Response(text="no")


class Breaks:
    """Judges the first turns, then breaks."""

    def __init__(self, *outcomes: EvalOutcome) -> None:
        self._outcomes = iter(outcomes)

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        try:
            return EvalResult(outcome=next(self._outcomes))
        except StopIteration:
            raise RuntimeError("judge down") from None


async def attack(agent: object, **arguments: object) -> Result:
    arguments = {"trigger": "go", "evaluator": ToolCalled("send")} | arguments
    return await Attacks.xpia(**arguments).execute_async(adapter=agent)  # type: ignore[arg-type]


@pytest.mark.asyncio
async def test_everything_is_put_in_place_used_and_taken_away_in_order(
    scripted: type, noted_handle: type
) -> None:
    log: list[str] = []
    agent = scripted(CALMLY, log=log)
    handles = [noted_handle("a", log), noted_handle("b", log)]
    result = await attack(agent, inject=handles)
    assert log == [
        "inject a",
        "inject b",
        "open session",
        "send go",
        "close session",
        "remove b",
        "remove a",
    ]
    assert [(i.surface_name, i.payload_id) for i in result.injections] == [
        ("a", "a-payload"),
        ("b", "b-payload"),
    ]
    assert (result.status, result.notes) == (SafetyStatus.SAFE, ["delivery not observed"])


@pytest.mark.asyncio
async def test_a_single_handle_needs_no_list(scripted: type, noted_handle: type) -> None:
    result = await attack(scripted(CALMLY), inject=noted_handle("a", []))
    assert [record.surface_name for record in result.injections] == ["a"]


@pytest.mark.asyncio
async def test_turns_are_numbered_timed_and_carry_requests_and_reasons(scripted: type) -> None:
    class Driver:
        async def next_prompt_async(self, *, history: list[Turn]) -> PromptDecision | None:
            number = len(history)
            history.clear()  # a driver cannot touch the conversation
            if number == 2:
                return None
            return PromptDecision(request=Request(prompt=f"p{number}"), reasoning=f"r{number}")

    result = await attack(scripted("a", "b"), trigger=Driver())
    shown = [(t.turn_number, t.request.prompt, t.driver_reasoning) for t in result.turns]
    assert shown == [(0, "p0", "r0"), (1, "p1", "r1")]
    assert all(t.timestamp is not None and t.timestamp.tzinfo is UTC for t in result.turns)


@pytest.mark.asyncio
async def test_inline_attachments_reach_the_agent(scripted: type) -> None:
    agent = scripted(CALMLY)
    request = Request(prompt="summarise", attachments=[Payload(content="evil", id="p1")])
    result = await attack(agent, trigger=request)
    assert agent.requests == [request]
    assert result.turns[0].request.attachments[0].content == "evil"


@pytest.mark.asyncio
async def test_the_first_detection_ends_an_attack(scripted: type) -> None:
    result = await attack(scripted(CALMLY, SENT, CALMLY), trigger=["a", "b", "c"])
    assert (result.status, len(result.turns)) == (SafetyStatus.UNSAFE, 2)


@pytest.mark.asyncio
async def test_reaching_max_turns_resolves_and_says_what_was_not_sent(scripted: type) -> None:
    result = await attack(scripted("a", "b"), trigger=["1", "2", "3", "4"], max_turns=2)
    assert (result.status, len(result.turns)) == (SafetyStatus.SAFE, 2)
    assert result.notes == ["2 prompts were not sent: max_turns is 2"]


@pytest.mark.asyncio
async def test_a_driver_that_says_nothing_tests_nothing(scripted: type) -> None:
    class Silent:
        async def next_prompt_async(self, *, history: list[Turn]) -> None:
            return None

    result = await attack(scripted(), trigger=Silent())
    assert result.status is SafetyStatus.ERROR
    assert result.summary == "Nothing was tested: the driver sent no prompt"


BROKEN = RuntimeError("broken")


@pytest.mark.asyncio
async def test_failure_first_handle_cannot_enter(scripted: type, noted_handle: type) -> None:
    log: list[str] = []
    handles = [noted_handle("a", log, entering=BROKEN), noted_handle("b", log)]
    result = await attack(scripted(log=log), inject=handles)
    assert log == ["inject a"]
    assert (result.status, result.summary) == (SafetyStatus.ERROR, "RuntimeError: broken")
    assert result.injections == []


@pytest.mark.asyncio
async def test_failure_second_handle_cannot_enter(scripted: type, noted_handle: type) -> None:
    log: list[str] = []
    handles = [noted_handle("a", log), noted_handle("b", log, entering=BROKEN)]
    result = await attack(scripted(log=log), inject=handles)
    assert log == ["inject a", "inject b", "remove a"]
    assert result.summary == "RuntimeError: broken"
    assert [record.surface_name for record in result.injections] == ["a"]


@pytest.mark.asyncio
async def test_failure_not_ready_keeps_its_own_message(scripted: type, noted_handle: type) -> None:
    log: list[str] = []
    slow = noted_handle("b", log, waiting=TimeoutError("index took 30 s"))
    result = await attack(scripted(log=log), inject=[noted_handle("a", log), slow])
    assert log == ["inject a", "inject b", "remove b", "remove a"]
    assert result.summary == "TimeoutError: index took 30 s"
    assert result.notes == ["surface b: not ready"]
    assert len(result.injections) == 2


@pytest.mark.asyncio
async def test_failure_a_wait_that_cancels_itself_is_not_ready(
    scripted: type, noted_handle: type
) -> None:
    handle = noted_handle("a", [], waiting=asyncio.CancelledError())
    result = await attack(scripted(CALMLY), inject=handle)
    assert "cancelled its own wait_until_ready" in result.summary


@pytest.mark.asyncio
async def test_failure_no_session(scripted: type, noted_handle: type) -> None:
    log: list[str] = []
    agent = scripted(log=log, creating_error=ConnectionError("refused"))
    result = await attack(agent, inject=noted_handle("a", log))
    assert log == ["inject a", "remove a"]
    assert result.summary == "ConnectionError: refused"


@pytest.mark.asyncio
async def test_failure_send_keeps_earlier_turns(scripted: type, noted_handle: type) -> None:
    log: list[str] = []
    agent = scripted(CALMLY, BROKEN, log=log)
    result = await attack(agent, inject=noted_handle("a", log), trigger=["1", "2"])
    assert log[-2:] == ["close session", "remove a"]
    assert (result.status, result.summary) == (SafetyStatus.ERROR, "RuntimeError: broken")
    assert [turn.response.text for turn in result.turns] == ["no"]
    assert len(result.injections) == 1


@pytest.mark.asyncio
async def test_failure_evaluator_keeps_the_turn_it_broke_on(scripted: type) -> None:
    evaluator = Breaks(EvalOutcome.NOT_DETECTED)
    result = await attack(scripted("a", "b"), trigger=["1", "2"], evaluator=evaluator)
    assert (result.status, result.summary) == (SafetyStatus.ERROR, "RuntimeError: judge down")
    assert [turn.response.text for turn in result.turns] == ["a", "b"]
    assert [turn.eval_result is None for turn in result.turns] == [False, True]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("response", "status"), [(CALMLY, SafetyStatus.SAFE), (SENT, SafetyStatus.UNSAFE)]
)
async def test_failure_clean_up_is_noted_and_changes_no_verdict(
    scripted: type, noted_handle: type, response: Response, status: SafetyStatus
) -> None:
    log: list[str] = []
    agent = scripted(response, log=log, closing_error=OSError("socket"))
    handles = [noted_handle("a", log), noted_handle("b", log, leaving=OSError("locked"))]
    result = await attack(agent, inject=handles)
    assert log[-3:] == ["close session", "remove b", "remove a"]
    assert result.status is status
    assert [note for note in result.notes if note != "delivery not observed"] == [
        "session: clean-up failed: OSError: socket",
        "surface b: clean-up failed: OSError: locked",
    ]
    assert len(result.turns) == 1


@pytest.mark.asyncio
async def test_an_exit_that_raises_the_same_error_again_is_no_clean_up_failure(
    scripted: type, noted_handle: type
) -> None:
    agent = scripted(BROKEN, closing_error=BROKEN)
    result = await attack(agent, inject=noted_handle("a", [], leaving=BROKEN))
    assert (result.summary, result.notes) == ("RuntimeError: broken", [])


@pytest.mark.asyncio
async def test_failure_after_an_unsafe_turn_stays_unsafe(scripted: type) -> None:
    agent = scripted(SENT, closing_error=KeyboardInterrupt())
    heard = Heard()
    with pytest.raises(KeyboardInterrupt):
        await attack(agent, event_handlers=[heard])
    (result,) = heard.results
    assert result.status is SafetyStatus.UNSAFE
    assert result.summary == "Attack objective detected: send({})"
    assert result.notes == ["broke after the verdict was certain: KeyboardInterrupt"]
    assert result.metadata["error_type"] == "KeyboardInterrupt"


class Heard(ExecutionEventHandler):
    def __init__(self) -> None:
        self.results: list[Result] = []

    async def on_event(self, *, event_data: ExecutionEventData) -> None:
        if event_data.result is not None:
            self.results.append(event_data.result)


@pytest.mark.asyncio
async def test_cancellation_cleans_up_hands_out_what_was_seen_and_propagates(
    scripted: type, noted_handle: type
) -> None:
    log: list[str] = []
    heard = Heard()
    agent = scripted(CALMLY, asyncio.CancelledError(), log=log)
    with pytest.raises(asyncio.CancelledError):
        await attack(
            agent,
            inject=noted_handle("a", log),
            trigger=["1", "2"],
            event_handlers=[heard],
        )
    assert log[-2:] == ["close session", "remove a"]
    (result,) = heard.results
    assert (result.status, len(result.turns), len(result.injections)) == (SafetyStatus.ERROR, 1, 1)


@pytest.mark.asyncio
async def test_a_timeout_around_an_execution_is_a_timeout_and_loses_nothing(
    scripted: type,
) -> None:
    never = asyncio.Event()

    class Stuck:
        async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
            await never.wait()
            raise AssertionError("unreachable")

    heard = Heard()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(
            attack(scripted(SENT), evaluator=Stuck(), event_handlers=[heard]), timeout=0.01
        )
    assert [turn.response.text for turn in heard.results[0].turns] == ["done"]


@pytest.mark.asyncio
async def test_a_session_exit_that_claims_to_suppress_hides_no_failure(scripted: type) -> None:
    assert (await attack(scripted(BROKEN))).status is SafetyStatus.ERROR


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("agent_of", "message"),
    [
        (lambda s: s(lambda: "text"), "send_async must return a Response, not a str"),
        (lambda s: s(CALMLY, observability="all"), "must be an ObservabilityLevel, not 'all'"),
    ],
)
async def test_an_adapter_that_breaks_the_protocol_is_told_so(
    scripted: type, agent_of: Callable[[type], object], message: str
) -> None:
    assert message in (await attack(agent_of(scripted))).summary


@pytest.mark.asyncio
async def test_a_driver_that_breaks_the_protocol_is_told_so(scripted: type) -> None:
    class Wrong:
        async def next_prompt_async(self, *, history: list[Turn]) -> str:
            return "hello"

    result = await attack(scripted(CALMLY), trigger=Wrong())
    assert result.summary == (
        "DriverError: Wrong must decide on a PromptDecision or None, not 'hello'"
    )


@pytest.mark.asyncio
async def test_an_adapter_that_reuses_its_lists_changes_no_earlier_turn(scripted: type) -> None:
    calls: list[ToolCall] = []

    def respond() -> Response:
        calls.append(ToolCall(name="look"))
        return Response(text="x", tool_calls=calls)

    result = await attack(scripted(respond, respond), trigger=["1", "2"])
    assert [len(turn.response.tool_calls) for turn in result.turns] == [1, 2]


@pytest.mark.asyncio
async def test_response_metadata_is_copied_into_the_result(scripted: type) -> None:
    one = Response(text="x", metadata={"id": {"n": 1}})
    result = await attack(scripted(one, CALMLY), trigger=["1", "2"])
    assert result.metadata == {"id": {"n": 1}}
    result.metadata["id"]["n"] = 2
    assert result.turns[0].response.metadata == one.metadata == {"id": {"n": 1}}
    result = await attack(scripted(one, CALMLY, replace(one)), trigger=["1", "2", "3"])
    assert result.metadata == {"turn_0": {"id": {"n": 1}}, "turn_2": {"id": {"n": 1}}}


@pytest.mark.asyncio
async def test_metadata_that_cannot_be_copied_is_kept_as_its_image(scripted: type) -> None:
    generator = (n for n in ())
    odd = Response(text="x", metadata={"stream": generator})
    result = await attack(scripted(odd))
    assert result.status is SafetyStatus.SAFE
    assert "generator" in result.metadata["stream"]


@pytest.mark.asyncio
async def test_an_execution_can_be_run_again(scripted: type) -> None:
    execution = Attacks.xpia(trigger="go", evaluator=ToolCalled("send"))
    statuses = [
        (await execution.execute_async(adapter=scripted(response))).status
        for response in (SENT, CALMLY, SENT)
    ]
    assert statuses == [SafetyStatus.UNSAFE, SafetyStatus.SAFE, SafetyStatus.UNSAFE]


@pytest.mark.asyncio
async def test_evaluation_happens_while_the_injection_is_in_place(
    scripted: type, noted_handle: type
) -> None:
    log: list[str] = []

    class Logs:
        async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
            log.append(f"evaluate, {context.observability}, {context.manifest}")
            return EvalResult(outcome=EvalOutcome.NOT_DETECTED)

    level = ObservabilityLevel.TOOL_ONLY
    agent = scripted(CALMLY, log=log, observability=level)
    await attack(agent, inject=noted_handle("a", log), evaluator=Logs())
    assert log.index(f"evaluate, {level}, TARGET AGENT: scripted") < log.index("close session")


GOOD = {"trigger": "go", "evaluator": ResponseContains("x")}


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"max_turns": 0}, ValueError, "max_turns must be >= 1, not 0"),
        ({"max_turns": -1}, ValueError, "max_turns must be >= 1, not -1"),
        ({"max_turns": True}, TypeError, "whole number >= 1, not True"),
        ({"max_turns": 2.0}, TypeError, "whole number >= 1, not 2.0"),
        ({"trigger": []}, ValueError, "nothing to send"),
        ({"trigger": ""}, ValueError, "prompt 0 is an empty string"),
        ({"trigger": None}, TypeError, "a trigger must be a string, a Request"),
        ({"trigger": 5}, TypeError, "not 5"),
        ({"trigger": Payload(content="x")}, TypeError, "a trigger must be"),
        ({"trigger": ["a", 5]}, TypeError, "prompt 1 must be a string or a Request, not 5"),
        ({"evaluator": None}, TypeError, "evaluator must have evaluate_async"),
        ({"evaluator": ResponseContains}, TypeError, "evaluator must have evaluate_async"),
        ({"inject": Payload(content="x")}, TypeError, r"surface\.inject\(payload=\.\.\.\)"),
        ({"inject": ["x"]}, TypeError, "not 'x'"),
    ],
)
def test_what_cannot_work_is_refused_at_construction(
    changed: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Attacks.xpia(**(GOOD | changed))  # type: ignore[arg-type]


@pytest.mark.asyncio
async def test_an_adapter_that_forgot_async_is_told_so(scripted: type) -> None:
    forgetful = scripted(CALMLY)
    forgetful.create_session_async = lambda: object()

    result = await attack(forgetful)

    assert result.status is SafetyStatus.ERROR
    assert result.summary == (
        "TypeError: ScriptedAgent.create_session_async must be `async def`, but it returned"
        " object at once"
    )
