from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import pytest

from kensa.errors import KensaEvalError
from kensa.judge import JudgeProvider, JudgeResult, judge, judge_async, set_judge_provider
from kensa.trace import KensaTrace
from kensa.tracing import record_llm_call
from seatrial.outcome import FailureOwner
from seatrial.scope import TrialScope

OpenTrial: TypeAlias = Callable[..., AbstractContextManager[TrialScope]]


class Answering:
    """A provider that gives one answer, or raises it, and keeps the questions."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.questions: list[dict[str, Any]] = []

    def judge(self, **question: Any) -> JudgeResult:
        self.questions.append(question)
        with record_llm_call("the judge's model"):
            pass
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]


GOOD = JudgeResult(passed=True, reasoning="fine", evidence=["hello"])


def test_a_provider_is_asked_and_its_answer_recorded(open_trial: OpenTrial) -> None:
    provider = Answering(GOOD)
    set_judge_provider(provider)

    with open_trial() as scope:
        result = judge("out", "polite", input="in", trace=[1], context={"c": 1})
        seen = KensaTrace()

    assert result is GOOD
    assert provider.questions == [
        {
            "output": "out",
            "criteria": "polite",
            "input": "in",
            "trace": [1],
            "context": {"c": 1},
        }
    ]
    assert scope.judgements == [GOOD.to_dict()]
    assert seen.llm_turns == 0


def test_what_is_recorded_is_a_copy(open_trial: OpenTrial) -> None:
    set_judge_provider(Answering(GOOD))
    with open_trial() as scope:
        result = judge("out", "polite")
    result.evidence.append("changed")

    assert scope.judgements[0]["evidence"] == ["hello"]
    GOOD.evidence.remove("changed")


@pytest.mark.parametrize(
    ("answer", "kind", "reasoning"),
    [
        (RuntimeError("\x1b[2Jdown"), "execution", r"RuntimeError: \x1b[2Jdown"),
        ({"passed": True}, "contract", "must return a JudgeResult, not dict"),
        (None, "contract", "not NoneType"),
    ],
)
def test_a_provider_that_fails_is_an_error_result(
    open_trial: OpenTrial, answer: object, kind: str, reasoning: str
) -> None:
    set_judge_provider(Answering(answer))

    with open_trial() as scope:
        result = judge("out", "polite")

    assert result.error
    assert not result.passed
    assert reasoning in result.reasoning
    assert result.provider == "Answering"
    assert scope.judgements[0]["error"] is True
    with pytest.raises(KensaEvalError) as failure:
        result.require()
    assert (failure.value.category, failure.value.kind) == (FailureOwner.JUDGE, kind)
    assert failure.value.evidence == result.to_dict()


def test_an_exception_without_readable_text_is_an_error_result() -> None:
    class UnreadableError(Exception):
        def __str__(self) -> str:
            raise ValueError

    set_judge_provider(Answering(UnreadableError()))

    assert judge("out", "polite").reasoning == "the judge could not answer: UnreadableError"


def test_a_disabled_judge_asks_nobody_and_lets_the_test_go_on(
    open_trial: OpenTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = Answering(GOOD)
    set_judge_provider(provider)
    monkeypatch.setenv("KENSA_JUDGE_RESULT", "fail")

    with open_trial(judge_disabled=True) as scope:
        result = judge("out", "polite")

    assert provider.questions == []
    assert (result.passed, result.provider, result.error) == (True, "disabled", False)
    assert scope.judgements[0]["metadata"] == {"disabled": True}
    assert result.require() is result


def test_a_judge_counts_in_set_up_and_tear_down_too(open_trial: OpenTrial) -> None:
    set_judge_provider(Answering(GOOD))
    with open_trial() as scope:
        for scope.phase in ("setup", "teardown"):
            judge("out", "polite")

    assert len(scope.judgements) == 2


@pytest.mark.parametrize(
    ("word", "passed", "error"),
    [(word, True, False) for word in ("1", "true", " PASS ", "passed", "Yes")]
    + [(word, False, False) for word in ("0", "false", "fail", "Failed", "no")]
    + [("error", False, True), ("ok", False, True)],
)
def test_the_environment_can_force_a_result(
    monkeypatch: pytest.MonkeyPatch, word: str, passed: bool, error: bool
) -> None:
    monkeypatch.setenv("KENSA_JUDGE_RESULT", word)

    result = judge("out", "polite")

    assert (result.passed, result.error) == (passed, error)
    assert (result.provider, result.model) == ("env", "KENSA_JUDGE_RESULT")


def test_an_unknown_forced_word_names_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KENSA_JUDGE_RESULT", "okay")

    result = judge("out", "polite")

    assert "'okay', which is none of: 1, true, pass," in result.reasoning
    with pytest.raises(KensaEvalError) as failure:
        result.require()
    assert failure.value.kind == "configuration"


@pytest.mark.asyncio
async def test_an_async_test_can_judge_in_a_thread(open_trial: OpenTrial) -> None:
    set_judge_provider(Answering(GOOD))

    with open_trial() as scope:
        result = await asyncio.to_thread(judge, "out", "polite")

    assert scope.judgements == [result.to_dict()]


@pytest.mark.asyncio
async def test_what_is_awaited_asks_and_records_the_same(open_trial: OpenTrial) -> None:
    provider = Answering(GOOD)
    set_judge_provider(provider)

    with open_trial() as scope:
        result = await judge_async("out", "polite", input="in", trace=[1], context={"c": 1})

    assert result is GOOD
    assert provider.questions == [
        {"output": "out", "criteria": "polite", "input": "in", "trace": [1], "context": {"c": 1}}
    ]
    assert scope.judgements == [GOOD.to_dict()]


@pytest.mark.asyncio
async def test_a_provider_that_blocks_does_not_hold_up_the_event_loop(
    open_trial: OpenTrial,
) -> None:
    both = threading.Barrier(2)

    class Blocking:
        def judge(self, **question: Any) -> JudgeResult:
            both.wait(timeout=30)
            return GOOD

    set_judge_provider(Blocking())

    with open_trial() as scope:
        results = await asyncio.gather(judge_async("a", "polite"), judge_async("b", "polite"))

    assert list(results) == [GOOD, GOOD]
    assert len(scope.judgements) == 2


@pytest.mark.asyncio
async def test_a_provider_that_fails_is_an_error_result_when_awaited_too(
    open_trial: OpenTrial,
) -> None:
    set_judge_provider(Answering(RuntimeError("down")))

    with open_trial() as scope:
        result = await judge_async("out", "polite")

    assert (result.error, result.metadata["error_kind"]) == (True, "execution")
    assert scope.judgements == [result.to_dict()]


@pytest.mark.asyncio
async def test_disabled_and_forced_judges_answer_at_once_when_awaited(
    open_trial: OpenTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KENSA_JUDGE_RESULT", "fail")

    forced = await judge_async("out", "polite")
    with open_trial(judge_disabled=True):
        disabled = await judge_async("out", "polite")

    assert (forced.passed, forced.provider) == (False, "env")
    assert (disabled.passed, disabled.provider) == (True, "disabled")


def test_require_gives_the_result_or_says_why_not() -> None:
    assert GOOD.require() is GOOD
    with pytest.raises(AssertionError, match="too rude"):
        JudgeResult(passed=False, reasoning="too rude").require()


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"passed": 1}, "passed of a judge's result must be bool, not int"),
        ({"reasoning": None}, "reasoning of a judge's result must be str"),
        ({"error": 0}, "error of a judge's result must be bool"),
        ({"evidence": "quote"}, "evidence of a judge's result must be list or tuple"),
        ({"evidence": [1]}, "each item of evidence of a judge's result must be str"),
        ({"provider": 1}, "provider of a judge's result must be str or None"),
        ({"model": 1}, "model of a judge's result"),
        ({"metadata": []}, "metadata of a judge's result must be dict"),
    ],
)
def test_a_result_of_other_types_is_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        JudgeResult(**{"passed": False, "reasoning": "", **fields})


def test_an_error_cannot_have_passed() -> None:
    with pytest.raises(ValueError, match="cannot have passed=True"):
        JudgeResult(passed=True, reasoning="", error=True)


def test_metadata_becomes_json() -> None:
    mine = {"score": float("nan"), "tags": {"a"}}
    result = JudgeResult(passed=True, reasoning="", metadata=mine)
    mine["later"] = 1

    assert result.to_dict()["metadata"] == {"score": "nan", "tags": ["a"]}
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result.to_dict()


def test_a_provider_must_be_able_to_judge() -> None:
    with pytest.raises(TypeError, match="needs a method `judge`; str has none"):
        set_judge_provider("openai")  # type: ignore[arg-type]
    accepted: JudgeProvider = Answering(GOOD)
    set_judge_provider(accepted)


def test_an_eval_error_names_a_known_owner() -> None:
    with pytest.raises(ValueError, match="category 'weather' is none of agent, judge"):
        KensaEvalError("rain", category="weather", kind="execution")
