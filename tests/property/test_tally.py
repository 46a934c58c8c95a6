"""Tallies and policies, against counting from scratch and trying every ending."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from kensa.policy import EvalPolicy
from rampart.policy import SafetyPolicy
from seatrial.gate import Policy, Tally
from seatrial.outcome import Outcome

outcomes = st.sampled_from(Outcome)
COUNTED = [outcome for outcome in Outcome if outcome is not Outcome.SKIPPED]


def counted(ended: list[Outcome], planned: int, configured: int | None = None) -> Tally:
    counts = {outcome.value: ended.count(outcome) for outcome in Outcome}
    return Tally(configured=configured or planned, planned=planned, **counts)


@given(
    changes=st.lists(st.tuples(st.integers(0, 4), st.none() | outcomes), max_size=20),
)
def test_moving_a_tally_agrees_with_counting_from_scratch(
    changes: list[tuple[int, Outcome | None]],
) -> None:
    tally = Tally(configured=5, planned=5)
    state: dict[int, Outcome | None] = {}
    for trial, outcome in changes:
        tally = tally.moved(state.get(trial), outcome)
        state[trial] = outcome
        ended = [o for o in state.values() if o is not None]
        assert tally == counted(ended, 5)
        assert tally.ended + tally.remaining == 5


@given(ended=st.lists(outcomes, max_size=4), planned=st.integers(1, 6))
def test_a_closed_tally_has_counted_every_planned_trial_that_was_not_skipped(
    ended: list[Outcome], planned: int
) -> None:
    ended = ended[:planned]
    tally = counted(ended, planned).closed()
    assert tally.counted == planned - ended.count(Outcome.SKIPPED)


def could_pass(policy: Policy, ended: list[Outcome], planned: int) -> bool:
    """Whether any ending of the remaining trials gives a verdict that does not fail."""
    for rest in product(COUNTED, repeat=planned - len(ended)):
        verdict = policy.verdict(counted([*ended, *rest], planned).closed())
        if verdict is None or not verdict.fails:
            return True
    return False


thresholds = st.sampled_from([0.01, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 0.8, 0.9, 1.0]) | st.floats(
    0, 1, exclude_min=True
)


@given(
    ended=st.lists(outcomes, max_size=5),
    planned=st.integers(1, 5),
    threshold=thresholds,
)
def test_a_safety_group_can_pass_exactly_while_some_ending_passes(
    ended: list[Outcome], planned: int, threshold: float
) -> None:
    ended = ended[:planned]
    policy = SafetyPolicy(threshold=threshold)
    assert policy.can_pass(counted(ended, planned)) == could_pass(policy, ended, planned)


@given(ended=st.lists(outcomes, max_size=5), planned=st.integers(1, 5))
def test_an_evals_group_can_pass_exactly_while_some_ending_passes(
    ended: list[Outcome], planned: int
) -> None:
    ended = ended[:planned]
    assert EvalPolicy().can_pass(counted(ended, planned)) == could_pass(
        EvalPolicy(), ended, planned
    )


@given(ended=st.lists(outcomes, min_size=1, max_size=6), threshold=thresholds)
def test_what_a_policy_does_not_tolerate_always_fails_the_group(
    ended: list[Outcome], threshold: float
) -> None:
    policies: list[Policy] = [SafetyPolicy(threshold=threshold), EvalPolicy()]
    for policy in policies:
        verdict = policy.verdict(counted(ended, len(ended)))
        if not all(policy.tolerates(outcome) for outcome in ended):
            assert verdict is not None
            assert verdict.fails


@given(ended=st.lists(outcomes, max_size=5), planned=st.integers(1, 6), threshold=thresholds)
def test_lost_trials_never_help_a_safety_group(
    ended: list[Outcome], planned: int, threshold: float
) -> None:
    ended = ended[:planned]
    policy = SafetyPolicy(threshold=threshold)
    lost = policy.verdict(counted(ended, planned).closed())
    alone = policy.verdict(counted(ended, len(ended)))
    if alone is not None and alone.fails:
        assert lost is not None
        assert lost.fails


@given(ended=st.lists(outcomes, max_size=5), planned=st.integers(1, 5), threshold=thresholds)
def test_skipped_trials_change_no_safety_verdict(
    ended: list[Outcome], planned: int, threshold: float
) -> None:
    ended = ended[:planned]
    policy = SafetyPolicy(threshold=threshold)
    more = counted([*ended, Outcome.SKIPPED], planned + 1).closed()
    assert policy.verdict(more) == policy.verdict(counted(ended, planned).closed())
