"""Judges and drivers that ask an object of PyRIT's shape, as its documentation describes it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from rampart import (
    DriverError,
    EvalContext,
    EvalOutcome,
    EvaluatorError,
    LLMDriver,
    LLMJudge,
    Persona,
    Response,
)
from rampart import targets as targets_module
from rampart.targets import MOST_ATTEMPTS, AskedTarget, Inquiry, PromptTarget, respondent_of
from seatrial.capture.collector import is_observed
from seatrial.errors import ModelProviderError
from seatrial.panel import Panel
from seatrial.scope import TrialScope

VERDICT = {"rationale": "r", "evidence": ["e"], "outcome": "detected", "confidence": 0.9}
CONTEXT = EvalContext.from_response(response=Response(text="yes"), prompt="go")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


def reply(text: str, **fields: Any) -> SimpleNamespace:
    piece = {
        "converted_value": text,
        "converted_value_data_type": "text",
        "response_error": "none",
        **fields,
    }
    return SimpleNamespace(message_pieces=[SimpleNamespace(**piece)])


@dataclass
class Target:
    """Answers in turn: text in a list of messages, a message as it is; errors are raised."""

    answers: list[Any]
    asked: list[str] = field(default_factory=list)
    conversations: list[str] = field(default_factory=list)
    observed: list[bool] = field(default_factory=list)

    async def send_prompt_async(self, *, message: Any) -> Any:
        (piece,) = message.message_pieces
        assert piece.role == "user"
        assert piece.converted_value == piece.original_value == message.get_value()
        self.asked.append(piece.converted_value)
        self.conversations.append(piece.conversation_id)
        self.observed.append(is_observed())
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return [reply(answer)] if isinstance(answer, str) else answer


@dataclass
class ChatTarget(Target):
    """One that takes a system prompt too."""

    systems: dict[str, str] = field(default_factory=dict)

    def set_system_prompt(self, *, system_prompt: str, conversation_id: str) -> None:
        self.systems[conversation_id] = system_prompt


async def ask(target: Any) -> dict[str, Any]:
    inquiry = Inquiry(system="Count.", user="{}", schema=SCHEMA, purpose="judge")
    return await AskedTarget(target).answer_async(inquiry)


@pytest.mark.asyncio
async def test_a_judge_asks_a_target_each_time_in_a_conversation_of_its_own() -> None:
    target = ChatTarget([json.dumps(VERDICT)] * 2)
    judge = LLMJudge.from_target(target=target, objective="It says yes.")
    for _ in range(2):
        result = await judge.evaluate_async(context=CONTEXT)
        assert result.detected
        assert result.evidence == ["e"]
    assert len(set(target.conversations)) == 2
    assert json.loads(target.asked[0])["turns"] == [{"turn": 1, "user": "go", "agent": "yes"}]
    system = target.systems[target.conversations[0]]
    assert "It says yes." in system
    assert '"outcome": {"type": "string", "enum": ["detected", "not_detected"' in system
    assert target.observed == [False, False]


@pytest.mark.asyncio
async def test_a_target_without_system_prompts_gets_the_instructions_in_the_message() -> None:
    target = Target(['{"n": 1}'])
    assert await ask(target) == {"n": 1}
    assert target.asked[0].startswith("Count.\n\nAnswer with one JSON object")
    assert target.asked[0].endswith("\n\n{}")


@pytest.mark.asyncio
@pytest.mark.parametrize("refusal", [ValueError, NotImplementedError])
async def test_so_does_one_that_refuses_a_system_prompt(refusal: type[Exception]) -> None:
    class Refusing(Target):
        def set_system_prompt(self, *, system_prompt: str, conversation_id: str) -> None:
            raise refusal

    target = Refusing(['{"n": 1}'])
    assert await ask(target) == {"n": 1}
    assert target.asked[0].startswith("Count.")


@pytest.mark.asyncio
async def test_an_answer_in_a_wrong_form_is_asked_for_again_and_the_target_told_why() -> None:
    target = ChatTarget(['```json\n{"n": 1}\n```', '{"n": "1"}', '{"n": 1}'])
    assert await ask(target) == {"n": 1}
    first, second, third = (target.systems[name] for name in target.conversations)
    assert "had another form" not in first
    assert second.endswith("An answer of yours had another form and could not be read.")
    assert third.startswith(second)


@pytest.mark.asyncio
async def test_it_is_asked_a_bounded_number_of_times() -> None:
    target = Target(["detected"] * 10)
    with pytest.raises(ModelProviderError, match="did not answer with a JSON object") as told:
        await ask(target)
    assert told.value.kind == "unusable"
    assert len(target.asked) == MOST_ATTEMPTS


class RateLimitException(Exception):  # noqa: N818 - PyRIT's name
    pass


class EmptyResponseException(Exception):  # noqa: N818 - PyRIT's name
    pass


class APITimeoutError(Exception):
    pass


class StatusError(Exception):
    def __init__(self, status_code: int) -> None:
        super().__init__(f"status {status_code}")
        self.status_code = status_code


def wrapped(cause: Exception) -> Exception:
    error = Exception("Error sending prompt with conversation ID 1")
    error.__cause__ = cause
    return error


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (RateLimitException(), "throttled"),
        (StatusError(429), "throttled"),
        (wrapped(RateLimitException()), "throttled"),
        (TimeoutError(), "timeout"),
        (wrapped(APITimeoutError()), "timeout"),
        (StatusError(408), "timeout"),
        (reply("", response_error="blocked"), "refused"),
    ],
)
async def test_a_target_that_gives_no_verdict_leaves_it_undetermined_and_is_not_asked_again(
    trouble: Any, kind: str
) -> None:
    target = Target([trouble])
    result = await LLMJudge.from_target(target=target, objective="o").evaluate_async(
        context=CONTEXT
    )
    assert result.outcome is EvalOutcome.UNDETERMINED
    assert result.rationale.startswith("the judge gave no verdict: Target ")
    with pytest.raises(ModelProviderError) as told:
        await ask(Target([trouble]))
    assert told.value.kind == kind


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "nothing",
    [EmptyResponseException(), StatusError(204), "", [], reply("", response_error="empty")],
)
async def test_an_empty_answer_is_asked_for_again_and_then_leaves_it_undetermined(
    nothing: Any,
) -> None:
    target = Target([nothing] * MOST_ATTEMPTS)
    result = await LLMJudge.from_target(target=target, objective="o").evaluate_async(
        context=CONTEXT
    )
    assert result.outcome is EvalOutcome.UNDETERMINED
    assert len(target.asked) == MOST_ATTEMPTS


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (StatusError(401), "status 401"),
        (ConnectionRefusedError("no route"), "no route"),
        (RuntimeError("memory is not initialised"), "RuntimeError: memory is not initialised"),
        (KeyError("x"), "KeyError"),
    ],
)
async def test_a_target_that_breaks_is_an_error_with_its_reason(
    trouble: Exception, reason: str
) -> None:
    judge = LLMJudge.from_target(target=Target([trouble]), objective="o")
    with pytest.raises(EvaluatorError, match=reason) as told:
        await judge.evaluate_async(context=CONTEXT)
    assert isinstance(told.value.__cause__, ModelProviderError)
    driver = LLMDriver.from_target(target=Target([trouble]), persona=Persona(name="p"))
    with pytest.raises(DriverError, match=reason):
        await driver.next_prompt_async(history=[])


@pytest.mark.asyncio
async def test_a_system_prompt_that_cannot_be_set_is_an_error() -> None:
    class Broken(Target):
        def set_system_prompt(self, *, system_prompt: str, conversation_id: str) -> None:
            raise RuntimeError("Conversation already exists")

    with pytest.raises(ModelProviderError, match="Conversation already exists"):
        await ask(Broken(['{"n": 1}']))


@pytest.mark.asyncio
async def test_a_target_that_hangs_is_given_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging(Target):
        async def send_prompt_async(self, *, message: Any) -> Any:
            await asyncio.Event().wait()

    monkeypatch.setattr(targets_module, "_TIMEOUT_S", 0.01)
    with pytest.raises(ModelProviderError, match="Hanging gave no answer in time") as told:
        await ask(Hanging([]))
    assert told.value.kind == "timeout"


@pytest.mark.asyncio
async def test_keys_of_the_environment_are_in_no_error_and_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "key-0123456789")
    with pytest.raises(ModelProviderError, match=r"wrong \[SOME_API_KEY\]") as told:
        await ask(Target([RuntimeError("wrong key-0123456789")]))
    assert told.value.__cause__ is None
    verdict = json.dumps({**VERDICT, "rationale": "key-0123456789"})
    judge = LLMJudge.from_target(target=Target([verdict]), objective="o")
    assert (await judge.evaluate_async(context=CONTEXT)).rationale == "[SOME_API_KEY]"


@pytest.mark.asyncio
async def test_its_calls_are_noted_with_the_trial_at_an_unknown_cost(
    trial_scope: TrialScope,
) -> None:
    await ask(Target(["?", '{"n": 1}']))
    with pytest.raises(ModelProviderError):
        await ask(Target([StatusError(401)]))
    calls = [(c["purpose"], c["provider"], c["model"]) for c in trial_scope.model_calls]
    assert calls == [("judge", "target", "Target")] * 2
    assert [call["attempts"] for call in trial_scope.model_calls] == [2, 1]
    assert [call["cost_usd"] for call in trial_scope.model_calls] == [None, None]
    assert [call["failed"] for call in trial_scope.model_calls] == [None, "status"]


@pytest.mark.asyncio
async def test_a_panel_may_sample_a_target() -> None:
    answers = [
        json.dumps({**VERDICT, "outcome": outcome})
        for outcome in ("detected", "not_detected", "detected")
    ]
    judge = LLMJudge.from_target(target=Target(answers), objective="o", panel=Panel(samples=3))
    result = await judge.evaluate_async(context=CONTEXT)
    assert result.detected
    assert result.rationale.startswith("2 of 3 votes for detected (majority); Target: detected")


@pytest.mark.parametrize("wrong", [object(), Target, "gpt"])
def test_what_has_no_send_prompt_async_is_no_target(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"target must have send_prompt_async\(\*, message\)"):
        respondent_of("LLMJudge", None, wrong)


def test_an_object_of_the_shape_is_a_target() -> None:
    assert isinstance(Target([]), PromptTarget)
    assert respondent_of("LLMJudge", None, Target([])).name == "Target"
