"""How far a judge agrees with people: asked over real HTTP, counted, and set in figures."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.inter_rater import cohens_kappa

from kensa.calibration import (
    Calibration,
    Comparison,
    calibrate_async,
    calibrations_of,
    interval_of,
    overall,
)
from kensa.labels import Label
from kensa.model_judge import judge_fingerprint
from seatrial.errors import ModelConfigurationError
from seatrial.models import ModelChoice
from seatrial.testing import (
    ErrorReply,
    ModelServer,
    ReceivedRequest,
    Reply,
    StructuredReply,
    TextReply,
)

CHOICE = ModelChoice("openai", "judge")


def label(name: str, passed: bool, criteria: str = "polite") -> Label:
    return Label(name=name, output=name, passed=passed, criteria=criteria)


def serving(answer: Callable[[str], bool | Reply]) -> ModelServer:
    """A judge's model that answers by the output that it is asked about."""

    def reply(request: ReceivedRequest) -> Reply:
        answered = answer(json.loads(request.messages[-1].text)["output"])
        if isinstance(answered, bool):
            return StructuredReply({"reasoning": "r", "evidence": [], "passed": answered})
        return answered

    return ModelServer(answer=reply)


def test_every_output_is_judged_and_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEATRIAL_MODEL_ATTEMPTS", "1")
    said: dict[str, bool | Reply] = {
        "tp": True,
        "fp": True,
        "fn": False,
        "tn": False,
        "broken": ErrorReply(status=400),
    }
    labels = [
        label("tp", True),
        label("fp", False),
        label("fn", True, "short"),
        label("tn", False),
        label("broken", True),
    ]
    progress: list[int] = []
    with serving(lambda output: said[output]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        judging = asyncio.run(calibrate_async(labels, model=CHOICE, tell=progress.append))
    comparisons = judging.comparisons
    assert [c.judged for c in comparisons] == [True, True, False, False, None]
    assert [c.disagrees for c in comparisons] == [False, True, True, False, False]
    assert progress == [1, 2, 3, 4, 5]
    total = overall(comparisons, CHOICE)
    counts = (total.true_pass, total.false_pass, total.false_fail, total.true_fail, total.unable)
    assert counts == (1, 1, 1, 1, 1)
    assert (total.agreement, total.sensitivity, total.specificity) == ((2, 4), (1, 2), (1, 2))
    polite, short = calibrations_of(comparisons, CHOICE)
    assert (polite.criteria, short.criteria) == ("polite", "short")
    assert (polite.rubric, polite.model) == (judge_fingerprint("polite"), "openai:judge")
    assert (short.judged, short.false_fail) == (1, 1)


def test_a_judge_that_contradicts_itself_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()

    def answer(output: str) -> bool:
        asked[output] += 1
        return output == "firm" or asked[output] % 2 == 0

    with serving(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        labels = [label("firm", True), label("fickle", True)]
        first = asyncio.run(calibrate_async(labels, model=CHOICE, repeats=3))
        # A repeat is a question of its own, and is stored as one.
        again = asyncio.run(calibrate_async(labels, model=CHOICE, repeats=3))
    assert asked == {"firm": 3, "fickle": 3}
    assert again.comparisons == first.comparisons
    assert first.comparisons[1].votes == (False, True, False)
    assert [c.flips for c in first.comparisons] == [False, True]
    assert overall(first.comparisons, CHOICE).flip_rate == (1, 2)
    assert (first.spent.calls, first.spent.stored) == (6, 0)
    assert (again.spent.calls, again.spent.stored, again.spent.unpriced) == (6, 6, 0)


def test_answers_that_are_stored_are_not_used_unless_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(lambda output: True) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        for use_cache, requests in ((True, 1), (True, 1), (False, 2)):
            work = calibrate_async([label("a", True)], model=CHOICE, use_cache=use_cache)
            asyncio.run(work)
            assert len(server.requests) == requests


@pytest.mark.parametrize("model", ["judge", "gpt-4o-mini"])
def test_what_failed_attempts_cost_counts_too(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    monkeypatch.setenv("SEATRIAL_MODEL_ATTEMPTS", "1")
    priced = model == "gpt-4o-mini"
    unusable = TextReply("no verdict at all", input_tokens=1_000_000)
    with serving(lambda output: unusable) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        choice = ModelChoice("openai", model)
        judging = asyncio.run(calibrate_async([label("a", True)], model=choice))
    assert judging.comparisons[0].judged is None
    assert judging.spent.failed == 1
    assert judging.spent.unpriced == (0 if priced else 1)
    assert (judging.spent.known_usd > 0.1) is priced


def test_no_more_are_asked_at_once_than_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda output: True) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_base_url)
        labels = [label(str(number), True) for number in range(12)]
        asyncio.run(calibrate_async(labels, model=CHOICE, at_once=2))
        assert server.most_in_flight <= 2
        assert len(server.requests) == 12


def test_a_model_that_cannot_be_asked_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelConfigurationError, match="OPENAI"):
        asyncio.run(calibrate_async([label("a", True), label("b", True)], model=CHOICE))


@given(part=st.integers(0, 60), rest=st.integers(0, 60))
def test_intervals_are_exact(part: int, rest: int) -> None:
    interval = interval_of((part, part + rest))
    if part + rest == 0:
        assert interval is None
        return
    assert interval is not None
    exact = binomtest(part, part + rest).proportion_ci(0.95, method="exact")
    assert interval.low == pytest.approx(exact.low, abs=1e-9)
    assert interval.high == pytest.approx(exact.high, abs=1e-9)


@pytest.mark.parametrize(
    "counts",
    [{}, {"true_pass": 5}, {"true_pass": 99, "false_fail": 1}, {"true_fail": 5}, {"false_pass": 1}],
)
def test_there_is_no_kappa_without_both_verdicts_of_people(counts: dict[str, int]) -> None:
    calibration = Calibration(rubric="", model="", criteria="", **counts)
    assert calibration.kappa is None
    assert calibration.document()["kappa"] is None


def test_full_agreement_is_kappa_1() -> None:
    agreeing = Calibration(rubric="", model="", criteria="", true_pass=5, true_fail=5)
    assert agreeing.kappa is not None
    assert agreeing.kappa.value == pytest.approx(1.0)


COUNTS = ("true_pass", "false_pass", "false_fail", "true_fail")


@given(counts=st.fixed_dictionaries({name: st.integers(0, 40) for name in COUNTS}))
def test_figures_are_those_of_the_comparisons(counts: dict[str, int]) -> None:
    said = {"true_pass": (True, True), "false_pass": (False, True)}
    said |= {"false_fail": (True, False), "true_fail": (False, False)}
    pairs = [pair for name, pair in said.items() for _ in range(counts[name])]
    total = overall([Comparison(label("a", p), (j,), "r") for p, j in pairs], CHOICE)
    assert {name: getattr(total, name) for name in COUNTS} == counts
    people, judge = [p for p, _ in pairs], [j for _, j in pairs]
    assert total.agreement == (sum(map(bool.__eq__, people, judge)), len(pairs))
    if len(set(people)) == 2:
        assert total.kappa is not None
        table = [
            [counts["true_pass"], counts["false_fail"]],
            [counts["false_pass"], counts["true_fail"]],
        ]
        assert total.kappa.value == pytest.approx(
            cohens_kappa(table, return_results=False), abs=1e-12
        )


def test_a_comparison_of_one_answer_cannot_flip() -> None:
    one = Comparison(label("a", True), (True,), "r")
    unsure = Comparison(label("a", True), (None, True, None), "r")
    assert (one.flips, unsure.flips, unsure.judged) == (None, None, None)
