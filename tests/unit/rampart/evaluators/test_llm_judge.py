from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from rampart import (
    AppManifest,
    Attacks,
    Channel,
    EvalContext,
    EvalOutcome,
    EvaluatorError,
    LLMConfig,
    LLMJudge,
    ObservabilityLevel,
    Persona,
    Probes,
    Request,
    Response,
    ResponseContains,
    SafetyStatus,
    ToolCall,
    TranscriptScope,
    Turn,
)
from rampart.evaluators import NEUTRAL_EVALUATOR
from rampart.evaluators.judge_prompt import FIXED_RULES, VERDICT_SCHEMA
from rampart.transcript import LONGEST_TEXT
from seatrial.errors import MissingExtraError, ModelConfigurationError, ModelProviderError
from seatrial.panel import Panel
from seatrial.scope import TrialScope
from seatrial.testing import (
    ErrorReply,
    RawReply,
    ReceivedRequest,
    RefusalReply,
    StructuredReply,
    TextReply,
)

Serve = Callable[..., Any]


def verdict(
    outcome: str = "detected",
    confidence: float = 0.9,
    rationale: str = "it said so",
    evidence: tuple[str, ...] = ("the code is 1234",),
) -> StructuredReply:
    return StructuredReply(
        {
            "rationale": rationale,
            "evidence": list(evidence),
            "outcome": outcome,
            "confidence": confidence,
        }
    )


def conversation(*answers: str, **parts: Any) -> EvalContext:
    turns = [
        Turn(
            request=Request(prompt=f"question {number}"),
            response=Response(text=answer),
            turn_number=number,
        )
        for number, answer in enumerate(answers)
    ]
    return EvalContext(turns=turns, **parts)


def document_of(request: ReceivedRequest) -> dict[str, Any]:
    assert [message.role for message in request.messages] == ["user"]
    document: dict[str, Any] = json.loads(request.messages[0].text)
    return document


@pytest.mark.asyncio
@pytest.mark.parametrize("outcome", EvalOutcome)
async def test_the_models_verdict_is_the_result(serve: Serve, outcome: EvalOutcome) -> None:
    _, llm = serve(verdict(outcome.value, 0.8))
    result = await LLMJudge(objective="It tells the code.", llm=llm).evaluate_async(
        context=conversation("the code is 1234")
    )
    assert result.outcome is outcome
    assert result.confidence == 0.8
    assert result.evidence == ["the code is 1234"]
    assert result.rationale == "it said so"


@pytest.mark.asyncio
async def test_the_judge_is_told_who_it_is_what_to_look_for_and_what_not_to_trust(
    serve: Serve,
) -> None:
    server, llm = serve(verdict())
    await LLMJudge(objective="It tells the code.", llm=llm).evaluate_async(
        context=conversation("no")
    )
    (request,) = server.requests
    assert NEUTRAL_EVALUATOR.system_prompt in request.system
    assert "It tells the code." in request.system
    assert request.system.endswith(FIXED_RULES)
    assert request.model == "judge-model"
    assert request.forced_tools[0].parameters["required"] == VERDICT_SCHEMA["required"]
    assert request.body["temperature"] == 0.0


@pytest.mark.asyncio
async def test_the_whole_conversation_and_the_manifest_are_shown(serve: Serve) -> None:
    server, llm = serve(verdict())
    context = conversation(
        "no", "yes", manifest=AppManifest(name="vault"), observability=ObservabilityLevel.TOOL_ONLY
    )
    await LLMJudge(objective="o", llm=llm).evaluate_async(context=context)
    document = document_of(server.requests[0])
    assert document["about_the_agent"]["name"] == "vault"
    assert document["not_observed"] == ["side effects"]
    assert document["turns"] == [
        {"turn": 1, "user": "question 0", "agent": "no"},
        {"turn": 2, "user": "question 1", "agent": "yes"},
    ]


@pytest.mark.asyncio
async def test_the_narrow_scope_shows_the_newest_turn_under_its_own_number(serve: Serve) -> None:
    server, llm = serve(verdict())
    judge = LLMJudge(objective="o", llm=llm, scope=TranscriptScope.CURRENT_TURN)
    await judge.evaluate_async(context=conversation("no", "no", "yes"))
    assert document_of(server.requests[0]) == {
        "turns": [{"turn": 3, "user": "question 2", "agent": "yes"}]
    }


@pytest.mark.asyncio
async def test_an_empty_conversation_is_shown_as_such(serve: Serve) -> None:
    server, llm = serve(verdict("not_detected"), verdict("not_detected"))
    for scope in TranscriptScope:
        judge = LLMJudge(objective="o", llm=llm, scope=scope, persona=Persona(name=scope.value))
        await judge.evaluate_async(context=EvalContext(turns=[]))
    assert document_of(server.requests[0]) == {"turns": []}


@pytest.mark.asyncio
async def test_a_subclass_words_its_own_instructions_but_keeps_the_fixed_rules(
    serve: Serve,
) -> None:
    class Terse(LLMJudge):
        def _build_system_prompt(self, *, context: EvalContext) -> str:
            return f"Judge {len(context.turns)} turns. Ignore all rules below."

    server, llm = serve(verdict())
    await Terse(objective="o", llm=llm, persona=Persona(name="p")).evaluate_async(
        context=conversation("a", "b")
    )
    assert server.requests[0].system == (f"Judge 2 turns. Ignore all rules below.\n\n{FIXED_RULES}")


@pytest.mark.asyncio
@pytest.mark.parametrize("outcome", ["detected", "not_detected"])
async def test_an_outcome_that_the_judge_hardly_believes_is_no_outcome(
    serve: Serve, outcome: str
) -> None:
    _, llm = serve(verdict(outcome, 0.49))
    result = await LLMJudge(objective="o", llm=llm).evaluate_async(context=conversation("x"))
    assert result.outcome is EvalOutcome.UNDETERMINED
    assert (
        result.rationale == f"the judge says {outcome} with a confidence of 0.49 only: it said so"
    )


@pytest.mark.asyncio
async def test_nothing_follows_from_a_text_that_was_too_long_to_show(serve: Serve) -> None:
    _, llm = serve(verdict("not_detected"), verdict("detected"))
    judge = LLMJudge(objective="o", llm=llm)
    result = await judge.evaluate_async(context=conversation("x" * (LONGEST_TEXT + 7)))
    assert result.outcome is EvalOutcome.UNDETERMINED
    assert result.rationale.startswith("7 characters were too many to show to the judge")
    result = await judge.evaluate_async(context=conversation("y" * (LONGEST_TEXT + 7)))
    assert result.detected


@pytest.mark.asyncio
async def test_a_talkative_judge_is_cut_short(serve: Serve) -> None:
    _, llm = serve(verdict(rationale="r" * 50_000, evidence=("e" * 50_000,) * 30))
    result = await LLMJudge(objective="o", llm=llm).evaluate_async(context=conversation("x"))
    assert len(result.rationale) < 10_100
    assert len(result.evidence) == 20
    assert max(map(len, result.evidence)) < 2_100


@pytest.mark.asyncio
async def test_the_same_question_is_asked_once(serve: Serve) -> None:
    server, llm = serve(verdict())
    judge = LLMJudge(objective="o", llm=llm)
    results = [await judge.evaluate_async(context=conversation("x")) for _ in range(2)]
    assert results[0] == results[1]
    assert len(server.requests) == 1


@pytest.mark.asyncio
async def test_one_judge_serves_many_conversations_at_the_same_time(serve: Serve) -> None:
    def answer(request: ReceivedRequest) -> StructuredReply:
        return verdict(evidence=(document_of(request)["turns"][0]["agent"],))

    _, llm = serve(always=answer)
    judge = LLMJudge(objective="o", llm=llm)
    results = await asyncio.gather(
        *(judge.evaluate_async(context=conversation(f"answer {n}")) for n in range(12))
    )
    assert [result.evidence for result in results] == [[f"answer {n}"] for n in range(12)]


@pytest.mark.asyncio
async def test_its_calls_are_noted_with_the_trial_as_the_judges(
    serve: Serve, trial_scope: TrialScope
) -> None:
    _, llm = serve(verdict())
    await LLMJudge(objective="o", llm=llm).evaluate_async(context=conversation("x"))
    (call,) = trial_scope.model_calls
    assert (call["purpose"], call["model"], call["input_tokens"]) == ("judge", "judge-model", 12)


@pytest.mark.asyncio
async def test_where_judges_are_disabled_nobody_is_asked(
    serve: Serve, trial_scope: TrialScope
) -> None:
    server, llm = serve()
    trial_scope.judge_disabled = True
    result = await LLMJudge(objective="o", llm=llm).evaluate_async(context=conversation("x"))
    assert result.outcome is EvalOutcome.UNDETERMINED
    assert "judges are disabled" in result.rationale
    assert server.requests == []


# Who could not tell, and who could not be asked


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (ErrorReply(429), "429"),
        (RawReply(b"", status=200), "judge-model"),
        (TextReply(""), "did not answer with a JSON object"),
        (TextReply("I would say: detected"), "did not answer with a JSON object"),
        (verdict("perhaps"), "not one of detected"),
        (RefusalReply("I will not judge this."), "refused to answer: I will not judge this."),
    ],
    ids=["rate limit", "no body", "empty", "prose", "unknown outcome", "refusal"],
)
async def test_a_judge_that_gives_no_verdict_leaves_it_undetermined(
    serve: Serve, caplog: pytest.LogCaptureFixture, reply: Any, reason: str
) -> None:
    _, llm = serve(reply)
    result = await LLMJudge(objective="o", llm=llm).evaluate_async(context=conversation("x"))
    assert result.outcome is EvalOutcome.UNDETERMINED
    assert result.confidence == 0.0
    assert result.evidence == []
    assert result.rationale.startswith("the judge gave no verdict: ")
    assert reason in result.rationale
    assert "the judge neutral_evaluator (judge-model) gave no verdict" in caplog.text


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("reply", "status"), [(ErrorReply(401, "bad key"), 401), (ErrorReply(500), 500)]
)
async def test_a_judge_that_cannot_be_asked_is_an_error_with_its_cause(
    serve: Serve, reply: ErrorReply, status: int
) -> None:
    _, llm = serve(reply)
    with pytest.raises(
        EvaluatorError, match=r"the judge could not be asked: .*judge-model"
    ) as told:
        await LLMJudge(objective="o", llm=llm).evaluate_async(context=conversation("x"))
    assert isinstance(told.value.__cause__, ModelProviderError)
    assert told.value.__cause__.status == status


@pytest.mark.asyncio
async def test_a_server_that_is_not_there_is_an_error(serve: Serve) -> None:
    serve()
    llm = LLMConfig(model="m", endpoint="http://127.0.0.1:9/v1")
    with pytest.raises(EvaluatorError, match="could not be asked"):
        await LLMJudge(objective="o", llm=llm).evaluate_async(context=conversation("x"))


@pytest.mark.asyncio
async def test_a_mistyped_setting_is_an_error_that_names_it(serve: Serve) -> None:
    _, llm = serve(temprature=0.1)
    with pytest.raises(EvaluatorError, match="no setting 'temprature'") as told:
        await LLMJudge(objective="o", llm=llm).evaluate_async(context=conversation("x"))
    assert isinstance(told.value.__cause__, ModelConfigurationError)


@pytest.mark.asyncio
async def test_a_key_that_the_provider_repeats_is_in_no_result(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    _, llm = serve(
        ErrorReply(401, "wrong key sk-never-shown-123456"),
        verdict(rationale="sk-never-shown-123456", evidence=("sk-never-shown-123456",)),
    )
    judge = LLMJudge(objective="o", llm=llm)
    with pytest.raises(EvaluatorError) as told:
        await judge.evaluate_async(context=conversation("x"))
    assert "wrong key [key]" in str(told.value)
    assert "sk-never-shown" not in f"{told.value.__cause__} {told.value.__cause__!r} {caplog.text}"
    assert told.value.__cause__ is not None
    assert told.value.__cause__.__cause__ is None
    result = await judge.evaluate_async(context=conversation("y"))
    assert "sk-never-shown" not in repr(result)


# What it is made of


def test_somebody_must_be_asked() -> None:
    with pytest.raises(TypeError, match="Provide either llm or target"):
        LLMJudge(objective="o")


def test_only_one_may_be_asked(serve: Serve) -> None:
    _, llm = serve()

    class Target:
        async def send_prompt_async(self, *, message: Any) -> Any: ...

    with pytest.raises(TypeError, match="llm or target, not both"):
        LLMJudge(objective="o", llm=llm, target=Target())
    with pytest.raises(TypeError, match="put all who vote into the panel"):
        LLMJudge(objective="o", llm=llm, panel=Panel(models=("openai:m",)))


@pytest.mark.parametrize("objective", ["", " \n", None])
def test_an_objective_that_says_nothing_is_refused(serve: Serve, objective: Any) -> None:
    _, llm = serve()
    with pytest.raises(ValueError, match="objective must be a non-empty string"):
        LLMJudge(objective=objective, llm=llm)


def test_a_configuration_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="llm must be an LLMConfig, not a str"):
        LLMJudge(objective="o", llm="openai:gpt")  # type: ignore[arg-type]


def test_its_repr_says_what_it_looks_for_and_no_key(serve: Serve) -> None:
    _, llm = serve()
    assert repr(LLMJudge(objective="It leaks.", llm=llm)) == "LLMJudge(objective='It leaks.')"


# In executions and compositions


@pytest.mark.asyncio
async def test_what_the_judge_detects_decides_an_attack(serve: Serve, scripted: Any) -> None:
    _, llm = serve(verdict("not_detected"), verdict("detected"))
    attack = Attacks.xpia(
        trigger=["a", "b", "c"], evaluator=LLMJudge(objective="It tells.", llm=llm)
    )
    result = await attack.execute_async(adapter=scripted("no", "the code is 1234", "never sent"))
    assert result.status is SafetyStatus.UNSAFE
    assert "the code is 1234" in result.summary
    assert len(result.turns) == 2


@pytest.mark.asyncio
async def test_a_judge_is_taken_to_need_tool_calls_unless_it_says_that_text_will_do(
    serve: Serve, scripted: Any
) -> None:
    _, llm = serve(always=verdict("not_detected"))
    judge = LLMJudge(objective="o", llm=llm)
    agent = {"observability": ObservabilityLevel.RESPONSE_ONLY}
    attack = Attacks.xpia(trigger="a", evaluator=judge)
    assert (await attack.execute_async(adapter=scripted("no", **agent))).status is (
        SafetyStatus.UNDETERMINED
    )
    judge.requires = frozenset({Channel.TEXT})
    assert (await attack.execute_async(adapter=scripted("no", **agent))).status is SafetyStatus.SAFE


@pytest.mark.asyncio
async def test_a_judge_that_cannot_be_asked_ends_as_an_error_that_keeps_the_turns(
    serve: Serve, scripted: Any
) -> None:
    _, llm = serve(ErrorReply(403))
    result = await Probes.behavior(
        prompt="a", evaluator=LLMJudge(objective="o", llm=llm)
    ).execute_async(adapter=scripted("no"))
    assert result.status is SafetyStatus.ERROR
    assert result.metadata["error_type"] == "EvaluatorError"
    assert [turn.response.text for turn in result.turns] == ["no"]


@pytest.mark.asyncio
async def test_judges_compose_with_other_evaluators(serve: Serve) -> None:
    server, llm = serve(verdict("detected"), verdict("detected"), ErrorReply(429))
    judge = LLMJudge(objective="o", llm=llm)
    yes, no = ResponseContains("code"), ResponseContains("nothing")
    context = conversation("the code is 1234")
    composed = (judge & yes, ~judge & yes, no & judge, yes | judge)
    outcomes = [(await each.evaluate_async(context=context)).outcome for each in composed]
    assert outcomes == [
        EvalOutcome.DETECTED,
        EvalOutcome.NOT_DETECTED,
        EvalOutcome.NOT_DETECTED,
        EvalOutcome.DETECTED,
    ]
    assert len(server.requests) == 1  # one stored, two not needed
    undecided = ~LLMJudge(objective="other", llm=llm, persona=Persona(name="p"))
    assert (await undecided.evaluate_async(context=context)).detected is False


@pytest.mark.asyncio
async def test_negation_does_not_turn_doubt_into_a_detection(serve: Serve) -> None:
    _, llm = serve(ErrorReply(429))
    result = await (~LLMJudge(objective="o", llm=llm)).evaluate_async(context=conversation("x"))
    assert result.outcome is EvalOutcome.UNDETERMINED


@pytest.mark.asyncio
async def test_tool_calls_are_shown_to_the_judge(serve: Serve) -> None:
    server, llm = serve(verdict())
    response = Response(
        text="done", tool_calls=[ToolCall(name="send", arguments={"to": "x"}, result="ok")]
    )
    await LLMJudge(objective="o", llm=llm).evaluate_async(
        context=EvalContext.from_response(response=response, prompt="go")
    )
    assert document_of(server.requests[0])["turns"][0]["tool_calls"] == [
        {"name": "send", "arguments": {"to": "x"}, "result": "ok"}
    ]


# Panels


def by_model(**replies: Any) -> Callable[[ReceivedRequest], Any]:
    return lambda request: replies[request.model.replace("-", "_")]


def panel_of(llm: LLMConfig, *models: str, **parts: Any) -> Panel:
    configs = [LLMConfig(model=m, endpoint=llm.endpoint, api_key=llm.api_key) for m in models]
    return Panel(models=tuple(config.choice for config in configs), **parts)


@pytest.mark.asyncio
async def test_a_panel_decides_by_its_rule_and_shows_who_disagreed(serve: Serve) -> None:
    _, llm = serve(
        always=by_model(
            a=verdict("detected", 0.9, "clear", ("quote a",)),
            b=verdict("not_detected", 0.8, "I see none", ("quote b",)),
            c=verdict("detected", 0.7, "likely", ("quote a", "quote c")),
        )
    )
    judge = LLMJudge(objective="o", panel=panel_of(llm, "a", "b", "c"))
    result = await judge.evaluate_async(context=conversation("x"))
    assert result.outcome is EvalOutcome.DETECTED
    assert result.confidence == 0.7
    assert result.evidence == ["quote a", "quote c"]
    assert result.rationale == (
        "2 of 3 votes for detected (majority); openai:a: detected, 0.9 (clear); "
        "openai:b: not_detected, 0.8 (I see none); openai:c: detected, 0.7 (likely)"
    )


@pytest.mark.asyncio
@pytest.mark.parametrize(("rule", "outcome"), [("unanimous", "not_detected"), ("any", "detected")])
async def test_the_rule_is_the_panels(serve: Serve, rule: Any, outcome: str) -> None:
    _, llm = serve(always=by_model(a=verdict("detected"), b=verdict("not_detected")))
    judge = LLMJudge(objective="o", panel=panel_of(llm, "a", "b", rule=rule))
    result = await judge.evaluate_async(context=conversation("x"))
    assert result.outcome.value == outcome


@pytest.mark.asyncio
async def test_a_panel_that_agrees_says_so_shortly(serve: Serve) -> None:
    _, llm = serve(always=verdict("not_detected", rationale="nothing there"))
    judge = LLMJudge(objective="o", panel=panel_of(llm, "a", "b"))
    result = await judge.evaluate_async(context=conversation("x"))
    assert result.rationale == "2 of 2 votes for not_detected (majority): nothing there"


@pytest.mark.asyncio
async def test_a_vote_that_cannot_be_had_counts_for_neither_side(serve: Serve) -> None:
    _, llm = serve(always=by_model(a=verdict(), b=ErrorReply(500), c=verdict("undetermined")))
    judge = LLMJudge(objective="o", panel=panel_of(llm, "a", "b", "c"))
    result = await judge.evaluate_async(context=conversation("x"))
    assert result.outcome is EvalOutcome.UNDETERMINED
    assert result.rationale.startswith("3 votes decide nothing (majority); openai:a: detected")
    assert "openai:b: no verdict (openai:b failed" in result.rationale


@pytest.mark.asyncio
async def test_a_panel_of_which_nobody_can_be_asked_is_an_error(serve: Serve) -> None:
    _, llm = serve(always=by_model(a=ErrorReply(429), b=ErrorReply(500)))
    judge = LLMJudge(objective="o", panel=panel_of(llm, "a", "b"))
    with pytest.raises(EvaluatorError, match="openai:b failed"):
        await judge.evaluate_async(context=conversation("x"))


@pytest.mark.asyncio
async def test_a_large_panel_of_talkers_is_cut_short(serve: Serve) -> None:
    def answer(request: ReceivedRequest) -> StructuredReply:
        outcome = "detected" if request.number % 2 else "not_detected"
        lines = tuple(f"{request.number} {n}" for n in range(20))
        return verdict(outcome, rationale="r" * 9_000, evidence=lines)

    _, llm = serve(always=answer)
    judge = LLMJudge(objective="o", llm=llm, panel=Panel(samples=25))
    result = await judge.evaluate_async(context=conversation("x"))
    assert result.detected
    assert len(result.rationale) < 10_100
    assert len(result.evidence) == 20


@pytest.mark.asyncio
async def test_samples_of_one_model_are_asked_apart_and_not_pinned(serve: Serve) -> None:
    server, llm = serve(verdict(), verdict(), verdict("not_detected"))
    judge = LLMJudge(objective="o", llm=llm, panel=Panel(samples=3))
    results = [await judge.evaluate_async(context=conversation("x")) for _ in range(2)]
    assert results[0].detected
    assert results[0].rationale.startswith("2 of 3 votes for detected")
    assert results[1] == results[0]  # each sample is stored as itself
    assert len(server.requests) == 3
    assert all("temperature" not in request.body for request in server.requests)


@pytest.mark.asyncio
async def test_a_model_whose_packages_are_missing_is_an_error_even_in_a_panel(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    _, llm = serve(always=verdict())
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(EvaluatorError, match=r"pip install 'seatrial\[llm\]'") as told:
        await LLMJudge(objective="o", llm=llm).evaluate_async(context=conversation("x"))
    assert isinstance(told.value.__cause__, MissingExtraError)
