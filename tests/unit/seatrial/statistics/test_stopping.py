"""Stopping rules: their decisions, and what they lead to against all paths one by one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from seatrial.statistics import StoppingRule, sequential_rule
from seatrial.statistics.stopping import StoppingOutcome

# Good at two successes in a row from the start or three in all, bad at two failures, by trial four.
RULE = StoppingRule((1, 2, 2, 3, 3), (-1, -1, 0, 1, 2))


def _by_paths(rule: StoppingRule, rate: float) -> StoppingOutcome:
    good = bad = undecided = expected = 0.0
    for path in itertools.product((0, 1), repeat=rule.limit):
        chance = 1.0
        for trial in path:
            chance *= rate if trial else 1 - rate
        for n in range(rule.limit + 1):
            decision = rule.decision(sum(path[:n]), n - sum(path[:n]))
            if decision or n == rule.limit:
                break
        good += chance * (decision == "good")
        bad += chance * (decision == "bad")
        undecided += chance * (decision is None)
        expected += chance * n
    return StoppingOutcome(good, bad, undecided, expected)


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(
    "rule", [RULE, sequential_rule(0.5, 10, confidence=0.8), sequential_rule(0.9, 9)]
)
def test_the_outcome_is_that_of_all_paths_together(rule: StoppingRule, rate: float) -> None:
    outcome, expected = rule.outcome(rate), _by_paths(rule, rate)
    for name in ("good", "bad", "undecided", "expected_trials"):
        assert getattr(outcome, name) == pytest.approx(
            getattr(expected, name), rel=1e-12, abs=1e-14
        ), name


def test_a_rule_that_decides_nothing_runs_to_its_limit() -> None:
    outcome = StoppingRule((1, 2, 3), (-1, -1, -1)).outcome(0.7)
    assert (outcome.good, outcome.bad) == (0.0, 0.0)
    assert outcome.undecided == pytest.approx(1.0)
    assert outcome.expected_trials == pytest.approx(2.0)


def test_decisions_follow_the_limits() -> None:
    assert RULE.decision(1, 0) is None
    assert RULE.decision(2, 0) == "good"
    assert RULE.decision(0, 2) == "bad"
    assert RULE.decision(1, 1) is None
    assert RULE.limit == 4


def test_trials_in_flight_count_against_every_decision() -> None:
    assert RULE.decision(2, 0, in_flight=1) is None
    assert RULE.decision(0, 2, in_flight=1) == "bad"
    assert RULE.decision(0, 2, in_flight=2) == "bad"
    assert StoppingRule((1, 1, 2), (-1, 0, 0)).decision(0, 1, in_flight=1) is None


def test_a_decision_with_trials_in_flight_holds_however_they_end() -> None:
    for rule in (RULE, sequential_rule(0.6, 12, confidence=0.7)):
        for successes, failures, in_flight in itertools.product(range(13), repeat=3):
            if successes + failures + in_flight > rule.limit:
                continue
            decision = rule.decision(successes, failures, in_flight)
            if decision:
                for passing in range(in_flight + 1):
                    ended = successes + passing, failures + in_flight - passing
                    assert rule.decision(*ended) == decision


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: StoppingRule((), ()), ValueError, "0 and 0 limits: expected as many of each"),
        (lambda: StoppingRule((1, 2), (-1,)), ValueError, "2 and 1 limits"),
        (lambda: StoppingRule((1, 1), (-1, 1)), ValueError, "at n=1 good begins at 1 and bad ends"),
        (lambda: RULE.decision(3, 2), ValueError, "5 trials: expected at most 4, the rule's limit"),
        (lambda: RULE.decision(-1, 2), ValueError, "successes=-1"),
        (lambda: RULE.decision(1, 2, 0.5), TypeError, r"in_flight=0\.5"),
        (lambda: RULE.outcome(1.5), ValueError, r"rate=1\.5: expected a rate in \[0, 1\]"),
    ],
)
def test_rules_and_counts_that_contradict_themselves_are_refused(
    call: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        call()
