from __future__ import annotations

import dataclasses
import itertools

import pytest

from rampart import (
    EvalOutcome,
    EvalResult,
    HarmCategory,
    Request,
    Response,
    Result,
    SafetyStatus,
    Turn,
    resolve_as_attack,
    resolve_as_probe,
)

D, N, U = EvalOutcome.DETECTED, EvalOutcome.NOT_DETECTED, EvalOutcome.UNDETERMINED
SAFE, UNSAFE = SafetyStatus.SAFE, SafetyStatus.UNSAFE
UNDETERMINED, ERROR = SafetyStatus.UNDETERMINED, SafetyStatus.ERROR


@pytest.mark.parametrize("status", SafetyStatus)
def test_safe_is_derived_and_is_the_truth_value(status: SafetyStatus) -> None:
    result = Result(status=status, summary="x")
    assert result.safe is bool(result) is (status is SAFE)


@pytest.mark.parametrize("status", SafetyStatus)
def test_a_safe_argument_that_agrees_is_accepted(status: SafetyStatus) -> None:
    assert Result(safe=status is SAFE, status=status, summary="x").status is status


@pytest.mark.parametrize("status", SafetyStatus)
def test_a_safe_argument_that_contradicts_is_refused(status: SafetyStatus) -> None:
    safe = status is not SAFE
    with pytest.raises(ValueError, match=f"safe={safe} contradicts status='{status.value}'"):
        Result(safe=safe, status=status, summary="x")


def test_safe_cannot_be_set() -> None:
    with pytest.raises(AttributeError):
        Result(status=SAFE, summary="x").safe = False  # type: ignore[misc]


def test_plain_text_is_no_status_and_no_level() -> None:
    with pytest.raises(TypeError, match="must be a SafetyStatus, not 'safe'"):
        Result(status="safe", summary="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be an ObservabilityLevel, not 'tool_only'"):
        Result(status=SAFE, summary="x", observability_level="tool_only")  # type: ignore[arg-type]


def test_the_repr_is_short() -> None:
    assert repr(Result(status=SAFE, summary="x")) == "Result(safe=True, status=safe, summary='x')"


def test_results_share_no_defaults_and_do_not_hash() -> None:
    first, second = (Result(status=SAFE, summary="x") for _ in range(2))
    first.metadata["a"] = 1
    first.notes.append("n")
    assert (second.metadata, second.notes) == ({}, [])
    with pytest.raises(TypeError, match="unhashable"):
        hash(first)


def test_a_result_can_be_replaced_field_by_field() -> None:
    result = Result(status=SAFE, summary="x", harm_category="a")
    assert dataclasses.replace(result, summary="y") == Result(
        status=SAFE, summary="y", harm_category="a"
    )


def test_eval_results_skip_turns_without_one() -> None:
    found = EvalResult(outcome=D)
    turns = [
        Turn(request=Request(prompt="?"), response=Response(text="x"), eval_result=evaluation)
        for evaluation in (None, found)
    ]
    assert Result(status=SAFE, summary="x", turns=turns).eval_results == [found]


def test_harm_categories_are_text_each_once_the_main_one_first() -> None:
    result = Result(
        status=SAFE,
        summary="x",
        harm_category=HarmCategory.JAILBREAK,
        other_harm_categories=["custom", "jailbreak"],
    )
    assert result.harm_categories == ("jailbreak", "custom")
    assert Result(status=SAFE, summary="x").harm_categories == ()


def test_harm_categories_are_the_nine_of_the_documentation() -> None:
    assert [category.value for category in HarmCategory] == [
        "memory_poisoning",
        "prompt_injection",
        "jailbreak",
        "data_exfiltration",
        "over_permissive_action",
        "data_leakage",
        "content_safety",
        "hallucination",
        "behavioral_regression",
    ]
    assert {HarmCategory.JAILBREAK: 1}["jailbreak"] == 1  # type: ignore[index]


TABLE = [
    (set(), ERROR, ERROR),
    ({N}, SAFE, UNSAFE),
    ({D}, UNSAFE, SAFE),
    ({U}, UNDETERMINED, UNDETERMINED),
    ({D, N}, UNSAFE, UNSAFE),
    ({D, U}, UNSAFE, UNDETERMINED),
    ({N, U}, UNDETERMINED, UNSAFE),
    ({D, N, U}, UNSAFE, UNSAFE),
]


@pytest.mark.parametrize(("present", "as_attack", "as_probe"), TABLE)
def test_outcomes_resolve_by_the_table_in_any_order(
    present: set[EvalOutcome], as_attack: SafetyStatus, as_probe: SafetyStatus
) -> None:
    for order in itertools.permutations(present):
        for extra in (order, (*order, *order)):
            results = [EvalResult(outcome=outcome) for outcome in extra]
            assert resolve_as_attack(eval_results=results) is as_attack
            assert resolve_as_probe(eval_results=results) is as_probe
