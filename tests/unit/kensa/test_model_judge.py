"""The judge that is a model: the real SDK, over real HTTP, to a server of our own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from kensa.errors import KensaEvalError
from kensa.judge import JudgeResult, judge, judge_async
from kensa.model_judge import judge_fingerprint
from kensa.trace import KensaTrace
from seatrial.errors import ModelConfigurationError
from seatrial.models import ModelChoice
from seatrial.outcome import FailureOwner
from seatrial.panel import Panel
from seatrial.scope import TrialScope
from seatrial.testing import (
    ErrorReply,
    ModelServer,
    RawReply,
    ReceivedRequest,
    RefusalReply,
    Reply,
    StructuredReply,
)

Serve = Callable[..., ModelServer]
OpenTrial = Callable[..., AbstractContextManager[TrialScope]]


def verdict(passed: bool, reasoning: str = "because", *evidence: str) -> StructuredReply:
    return StructuredReply(
        {"reasoning": reasoning, "evidence": list(evidence), "passed": passed},
        input_tokens=1_000,
        output_tokens=100,
    )


COST_USD = (1_000 * 0.15 + 100 * 0.60) / 1_000_000
"""Of one verdict, by the prices of gpt-4o-mini."""


def question_in(request: ReceivedRequest) -> Any:
    (message,) = request.messages
    return json.loads(message.text)


def test_a_model_judges_what_is_quoted_as_json(serve: Serve) -> None:
    server = serve(verdict(False, "rude", "go away"))

    result = judge(
        {"text": "go away", "nan": float("nan")}, "polite", input="hi", trace=KensaTrace()
    )

    assert (result.passed, result.reasoning, result.evidence) == (False, "rude", ["go away"])
    assert (result.provider, result.model, result.error) == ("openai", "gpt-4o-mini", False)
    assert result.metadata == {
        "input_tokens": 1_000,
        "output_tokens": 100,
        "cost_usd": pytest.approx(COST_USD),
        "rubric": judge_fingerprint("polite"),
    }
    (request,) = server.requests
    quoted = question_in(request)
    assert list(quoted) == ["criteria", "input", "trace", "output"]
    assert quoted["output"] == {"text": "go away", "nan": "nan"}
    assert quoted["trace"]["tools"] == []
    assert "untrusted" in request.system
    assert [tool.name for tool in request.forced_tools] == ["answer"]
    assert request.body["temperature"] == 0.0


def test_a_question_and_its_cost_are_noted_with_the_trial(
    serve: Serve, open_trial: OpenTrial
) -> None:
    serve(verdict(True), ErrorReply(status=401))

    with open_trial() as scope:
        good, bad = judge("out", "polite"), judge("out", "brief")
        turns = KensaTrace().llm_turns

    assert turns == 0  # the judge's model is not the agent's
    assert scope.judgements == [good.to_dict(), bad.to_dict()]
    answered, failed = scope.model_calls
    assert answered.pop("duration_s") >= 0  # type: ignore[operator]
    assert answered == {
        "purpose": "judge",
        "provider": "openai",
        "model": "gpt-4o-mini",
        "input_tokens": 1_000,
        "output_tokens": 100,
        "cost_usd": pytest.approx(COST_USD),
        "attempts": 1,
        "failed": None,
    }
    assert (failed["failed"], failed["attempts"]) == ("status", 1)


TROUBLE: dict[str, tuple[Reply, str]] = {
    "wrong key": (ErrorReply(status=401, message="bad key sk-not-a-key-1234567890"), "bad key ["),
    "throttled": (ErrorReply(status=429), "429"),
    "broken": (ErrorReply(status=500), "500"),
    "cut": (RawReply(body=b"{}", cut="head"), "failed"),
    "no answer": (RawReply(body=b"{}"), "failed"),
    "html": (RawReply(body=b"<html>", content_type="text/html"), "failed"),
    "refused": (RefusalReply(), "refused to answer: I cannot help with that."),
    "empty": (StructuredReply(""), "did not answer with a JSON object"),
    "of another form": (StructuredReply({"passed": True}), "left out reasoning, evidence"),
}


@pytest.mark.parametrize(("reply", "said"), TROUBLE.values(), ids=TROUBLE.keys())
@pytest.mark.asyncio
async def test_a_model_that_cannot_answer_is_an_error_result_of_the_judge(
    serve: Serve, open_trial: OpenTrial, reply: Reply, said: str
) -> None:
    serve(answer=reply)

    with open_trial() as scope:
        for result in (judge("out", "polite"), await judge_async("out", "polite")):
            assert (result.error, result.passed, result.provider) == (True, False, "error")
            assert result.reasoning.startswith("the judge could not answer: ")
            assert said in result.reasoning
            assert "sk-not-a-key" not in result.reasoning
            with pytest.raises(KensaEvalError) as failure:
                result.require()
            assert failure.value.category is FailureOwner.JUDGE
            assert failure.value.kind == "execution"

    assert [judgement["error"] for judgement in scope.judgements] == [True, True]
    assert all(call["failed"] for call in scope.model_calls)


def test_without_a_model_to_ask_the_result_names_what_was_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    result = judge("out", "polite")

    assert result.error
    assert "KENSA_JUDGE_MODEL" in result.reasoning


def test_a_trace_whose_document_fails_is_an_error_result(serve: Serve) -> None:
    class Broken:
        def to_dict(self) -> None:
            raise RuntimeError("no document")

    server = serve()

    assert "no document" in judge("out", "polite", trace=Broken()).reasoning
    assert server.requests == []


# -- stored judgements --------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_same_question_is_asked_once_and_its_stored_answer_says_so(
    serve: Serve, open_trial: OpenTrial
) -> None:
    server = serve(verdict(True, "fine", "out"))

    with open_trial() as scope:
        asked = judge("out", "polite")
        stored = judge("out", "polite")
        awaited = await judge_async("out", "polite")

    assert len(server.requests) == 1
    assert stored == awaited
    assert (stored.passed, stored.reasoning, stored.evidence) == (True, "fine", ["out"])
    assert stored.metadata == {
        "cached": True,
        "cost_usd": 0.0,
        "input_tokens": 0,
        "output_tokens": 0,
        "rubric": asked.metadata["rubric"],
    }
    assert "cached" not in asked.metadata
    assert [call["attempts"] for call in scope.model_calls] == [1, 0, 0]


def test_another_question_or_model_is_asked_anew(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(answer=verdict(True))

    judge("out", "polite")
    changes: dict[str, Any] = {
        "output": "other",
        "criteria": "brief",
        "input": "in",
        "context": "c",
        "trace": [],
    }
    for name, value in changes.items():
        arguments: dict[str, Any] = {"output": "out", "criteria": "polite", name: value}
        assert "cached" not in judge(**arguments).metadata
    monkeypatch.setenv("KENSA_JUDGE_MODEL", "openai:gpt-4o")
    judge("out", "polite")

    assert len(server.requests) == 7


def test_a_session_can_forbid_stored_answers(serve: Serve, open_trial: OpenTrial) -> None:
    server = serve(answer=verdict(True))

    judge("out", "polite")
    with open_trial() as scope:
        scope.use_cache = False
        assert "cached" not in judge("out", "polite").metadata

    assert len(server.requests) == 2


def test_what_was_no_answer_is_not_stored(serve: Serve) -> None:
    serve(ErrorReply(status=500), StructuredReply({"passed": True}), verdict(True))

    results = [judge("out", "polite") for _ in range(3)]

    assert [result.error for result in results] == [True, True, False]


# -- panels -------------------------------------------------------------------------------


def votes_of(result: JudgeResult) -> list[Any]:
    return [vote["passed"] for vote in result.metadata["panel"]["votes"]]


MODELS = ("openai:gpt-4o-mini", "openai:gpt-4o", "openai:gpt-4.1")


def voting(**votes: bool | Reply) -> Callable[[ReceivedRequest], Reply]:
    """Each model votes as its number says; `m1` is the first."""
    script = dict(zip((name.partition(":")[2] for name in MODELS), votes.values(), strict=False))

    def answer(request: ReceivedRequest) -> Reply:
        vote = script[request.model]
        return verdict(vote, f"{request.model} says so") if isinstance(vote, bool) else vote

    return answer


BROKEN = ErrorReply(status=401, message="closed")


@pytest.mark.parametrize(
    ("rule", "votes", "decided"),
    [
        ("majority", (True, True, False), True),
        ("majority", (False, True, False), False),
        ("majority", (True, True, BROKEN), True),
        ("majority", (True, False, BROKEN), None),
        ("unanimous", (True, True, True), True),
        ("unanimous", (True, True, False), False),
        ("unanimous", (True, True, BROKEN), None),
        ("unanimous", (True, False, BROKEN), False),
        ("any", (False, False, True), True),
        ("any", (False, False, False), False),
        ("any", (False, False, BROKEN), None),
        ("any", (BROKEN, BROKEN, True), True),
    ],
)
@pytest.mark.asyncio
async def test_a_panel_decides_by_its_rule_and_shows_who_voted_how(
    serve: Serve,
    open_trial: OpenTrial,
    rule: Any,
    votes: tuple[bool | Reply, ...],
    decided: bool | None,
) -> None:
    serve(answer=voting(**{f"m{number}": vote for number, vote in enumerate(votes, 1)}))
    panel = Panel(models=MODELS, rule=rule)

    with open_trial() as scope:
        result = await judge_async("out", "polite", panel=panel)

    assert (result.passed, result.error) == (decided is True, decided is None)
    assert votes_of(result) == [vote if isinstance(vote, bool) else None for vote in votes]
    yes, no = votes.count(True), votes.count(False)
    shown = result.metadata["panel"]
    assert (shown["rule"], shown["for"], shown["against"]) == (rule, yes, no)
    assert shown["unable"] == 3 - yes - no
    assert f"{yes} of 3 votes for, {no} against" in result.reasoning
    assert result.provider == "panel"
    assert scope.judgements == [result.to_dict()]
    assert len(scope.model_calls) == 3
    if decided is not None:
        speaker = MODELS[votes.index(decided)].partition(":")[2]
        assert result.reasoning.endswith(f"({rule}). {speaker} says so")


def test_a_panel_that_cannot_agree_is_the_judges_error(serve: Serve) -> None:
    serve(answer=voting(m1=True, m2=False))

    result = judge("out", "polite", panel=Panel(models=MODELS[:2]))

    assert result.error
    assert result.reasoning == (
        "the panel did not agree by the rule 'majority': 1 of 2 votes for, 1 against"
    )
    with pytest.raises(KensaEvalError) as failure:
        result.require()
    assert (failure.value.category, failure.value.kind) == (FailureOwner.JUDGE, "panel")


def test_a_panel_of_which_nobody_answers_is_the_judges_error(serve: Serve) -> None:
    serve(answer=BROKEN)

    result = judge("out", "polite", panel=Panel(models=MODELS))

    assert result.error
    assert "closed" in result.reasoning


def test_a_seat_that_cannot_tell_says_why(serve: Serve) -> None:
    serve(answer=voting(m1=True, m2=True, m3=BROKEN))

    result = judge("out", "polite", panel=Panel(models=MODELS))

    assert result.passed
    broken = result.metadata["panel"]["votes"][2]
    assert broken["passed"] is None
    assert "closed" in broken["reasoning"]
    assert "1 could not tell" in result.reasoning
    assert result.model == "openai:gpt-4o-mini, openai:gpt-4o"


def test_a_panel_asks_all_its_seats_at_once(serve: Serve) -> None:
    together = threading.Barrier(5)

    def answer(_: ReceivedRequest) -> Reply:
        together.wait(timeout=30)
        return verdict(True)

    server = serve(answer=answer)

    result = judge("out", "polite", panel=Panel(samples=5))

    assert votes_of(result) == [True] * 5
    assert server.most_in_flight == 5


def test_each_sample_of_one_model_is_stored_as_itself(serve: Serve) -> None:
    server = serve(verdict(True), verdict(False), verdict(True))

    asked = judge("out", "polite", panel=Panel(samples=3))
    stored = judge("out", "polite", panel=Panel(samples=3))
    single = judge("out", "polite")

    assert len(server.requests) == 3
    assert sorted(votes_of(asked)) == [False, True, True]
    assert votes_of(stored) == votes_of(asked)
    assert all(vote["cached"] for vote in stored.metadata["panel"]["votes"])
    assert single.metadata["cached"]  # it is the first sample
    assert single.passed == votes_of(asked)[0]


def test_a_panel_may_sit_at_endpoints_of_its_own(serve: Serve) -> None:
    server = serve(answer=verdict(True))
    with ModelServer(answer=verdict(False)) as other:
        local = ModelChoice("openai", "llama", endpoint=other.openai_base_url)

        result = judge("out", "polite", panel=Panel(models=("openai:gpt-4o", local), rule="any"))

    assert votes_of(result) == [True, False]
    assert [request.model for request in server.requests] == ["gpt-4o"]
    assert [request.model for request in other.requests] == ["llama"]


def test_what_no_panel_can_be_is_refused() -> None:
    with pytest.raises(ModelConfigurationError, match="rule='most' of a panel"):
        Panel(rule="most")  # type: ignore[arg-type]
    for samples in (0, -1, True, 1.5, 102):
        with pytest.raises(ModelConfigurationError, match=f"samples={samples!r} of a panel"):
            Panel(samples=samples)  # type: ignore[arg-type]


# -- fingerprints -------------------------------------------------------------------------


def test_the_fingerprint_is_that_of_the_criteria() -> None:
    assert judge_fingerprint("polite") == judge_fingerprint("polite")
    assert judge_fingerprint("polite") != judge_fingerprint("polite.")
    assert len(judge_fingerprint("")) == 16
