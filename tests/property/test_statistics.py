"""What holds of the statistics for any counts, rates and levels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from seatrial.statistics import (
    Alternative,
    Interval,
    Side,
    StoppingRule,
    WaldTest,
    benjamini_hochberg,
    boschloo,
    clopper_pearson,
    cohen_kappa,
    confidence_sequence,
    e_benjamini_hochberg,
    fisher,
    holm,
    log_e_value,
    mcnemar,
    pass_at_k,
    pass_hat_k,
    sequential_rule,
    wilson,
)
from seatrial.statistics.distributions import beta_quantile, beta_tails
from seatrial.statistics.hypergeometric import Hypergeometric

Count = tuple[int, int]
Method = Callable[..., Interval]

rates = st.floats(0.001, 0.999)
confidences = st.floats(0.5, 0.9999)
sides = st.sampled_from(["two-sided", "lower", "upper"])
alternatives = st.sampled_from(["two-sided", "less", "greater"])
intervals = st.sampled_from([clopper_pearson, wilson, confidence_sequence])


@st.composite
def counts(draw: st.DrawFn, most: int = 1_000_000) -> tuple[int, int]:
    n = draw(st.integers(1, most))
    return draw(st.integers(0, n)), n


@given(count=counts(), confidence=confidences, method=intervals, side=sides)
def test_an_interval_lies_within_rates_and_holds_what_was_seen(
    count: Count, confidence: float, method: Method, side: Side
) -> None:
    successes, n = count
    interval = method(successes, n, confidence=confidence, side=side)
    assert 0.0 <= interval.low <= successes / n + 1e-12
    assert successes / n - 1e-12 <= interval.high <= 1.0


@given(count=counts(), confidence=confidences, method=intervals)
def test_failures_have_the_mirrored_interval_of_successes(
    count: Count, confidence: float, method: Method
) -> None:
    successes, n = count
    of_successes = method(successes, n, confidence=confidence)
    of_failures = method(n - successes, n, confidence=confidence)
    assert of_failures.low == pytest.approx(1.0 - of_successes.high, abs=1e-12)
    assert of_failures.high == pytest.approx(1.0 - of_successes.low, abs=1e-12)


@given(count=counts(), confidence=confidences, method=intervals, side=sides)
def test_one_success_more_moves_both_limits_up(
    count: Count, confidence: float, method: Method, side: Side
) -> None:
    successes, n = count
    fewer = method(max(0, successes - 1), n, confidence=confidence, side=side)
    more = method(successes, n, confidence=confidence, side=side)
    assert fewer.low <= more.low + 1e-14
    assert fewer.high <= more.high + 1e-14


@given(count=counts(), levels=st.tuples(confidences, confidences), method=intervals, side=sides)
def test_more_confidence_is_never_a_narrower_interval(
    count: Count, levels: tuple[float, float], method: Method, side: Side
) -> None:
    less, more = (method(*count, confidence=level, side=side) for level in sorted(levels))
    assert more.low <= less.low + 1e-14
    assert less.high <= more.high + 1e-14


@given(n=st.integers(1, 25), rate=st.floats(0.0, 1.0), confidence=confidences, side=sides)
def test_clopper_pearson_holds_any_true_rate_as_often_as_it_says(
    n: int, rate: float, confidence: float, side: Side
) -> None:
    covered = math.fsum(
        math.comb(n, successes) * rate**successes * (1 - rate) ** (n - successes)
        for successes in range(n + 1)
        if rate in _widened(clopper_pearson(successes, n, confidence=confidence, side=side))
    )
    assert covered >= confidence - 1e-9


def _widened(interval: Interval) -> Interval:
    """A true rate that is itself a limit may lie on its wrong side by rounding."""
    return Interval(interval.low - 1e-12, interval.high + 1e-12)


@given(a=st.floats(1, 1e6), b=st.floats(1, 1e6), tail=st.floats(1e-9, 0.99), upper=st.booleans())
def test_a_beta_quantile_leaves_the_tail_that_was_asked_for(
    a: float, b: float, tail: float, upper: bool
) -> None:
    x = beta_quantile(a, b, tail, upper=upper)
    assert 0.0 <= x <= 1.0
    # Where a rounding of x moves the tail by more than that, it cannot be met more closely.
    neighbours = (max(0.0, x - 4e-16), min(1.0, x + 4e-16))
    low, high = sorted(beta_tails(a, b, neighbour)[upper] for neighbour in neighbours)
    assert low * (1 - 1e-8) <= tail <= high * (1 + 1e-8)


@given(first=counts(10_000), second=counts(10_000))
def test_exchanging_two_groups_exchanges_the_one_sided_p_values(
    first: Count, second: Count
) -> None:
    p_value = fisher(*first, *second, alternative="less")
    assert fisher(*second, *first, alternative="greater") == pytest.approx(p_value, rel=1e-9)
    assert fisher(*first, *second) == pytest.approx(fisher(*second, *first), rel=1e-6)


@given(first=counts(10_000), second=counts(10_000))
def test_p_values_of_the_two_sides_overlap_in_what_was_seen_alone(
    first: Count, second: Count
) -> None:
    less, greater = (fisher(*first, *second, alternative=side) for side in ("less", "greater"))
    seen = math.exp(Hypergeometric(first[0] + second[0], first[1], second[1]).log_pmf(first[0]))
    assert less + greater == pytest.approx(1.0 + seen, rel=1e-7)
    assert min(less, greater) <= fisher(*first, *second) * (1 + 1e-6)


@given(first=counts(12), second=counts(12), alternative=st.sampled_from(["less", "greater"]))
def test_boschloo_is_never_above_fisher(
    first: Count, second: Count, alternative: Alternative
) -> None:
    p_value = boschloo(*first, *second, alternative=alternative)
    assert 0.0 < p_value <= fisher(*first, *second, alternative=alternative) * (1 + 1e-8)


@given(first=st.integers(0, 10_000), second=st.integers(0, 10_000), alternative=alternatives)
def test_mcnemar_gives_a_probability_and_mirrors(
    first: int, second: int, alternative: Alternative
) -> None:
    mirrored = {"less": "greater", "greater": "less"}.get(alternative, alternative)
    p_value = mcnemar(first, second, alternative=alternative)
    assert 0.0 <= p_value <= 1.0
    assert mcnemar(second, first, alternative=mirrored) == pytest.approx(p_value, abs=1e-15)


@given(count=counts(2_000), data=st.data())
def test_any_of_k_and_all_of_k_are_two_sides_of_one_choice(
    count: Count, data: st.DataObject
) -> None:
    successes, n = count
    k = data.draw(st.integers(1, n))
    some, every = pass_at_k(successes, n, k), pass_hat_k(successes, n, k)
    assert some == pytest.approx(1.0 - pass_hat_k(n - successes, n, k), abs=1e-12)
    assert 0.0 <= every <= successes / n + 1e-12
    assert successes / n - 1e-12 <= some <= 1.0
    if k < n:
        assert pass_at_k(successes, n, k + 1) >= some - 1e-12
        assert pass_hat_k(successes, n, k + 1) <= every + 1e-12


@given(p_values=st.lists(st.floats(0, 1), max_size=30), level=st.floats(0.001, 0.5))
def test_adjusted_values_keep_the_order_and_grow_with_the_strictness(
    p_values: list[float], level: float
) -> None:
    familywise, discovery = holm(p_values), benjamini_hochberg(p_values)
    for raw, by_discovery, by_family in zip(p_values, discovery, familywise, strict=True):
        assert raw <= by_discovery * (1 + 1e-12)
        assert by_discovery <= by_family * (1 + 1e-12) <= 1.0 + 1e-9
    for i, j in itertools.pairwise(sorted(range(len(p_values)), key=p_values.__getitem__)):
        assert discovery[i] <= discovery[j]
        assert familywise[i] <= familywise[j]


@given(p_values=st.lists(st.floats(1e-300, 1), max_size=30))
def test_e_values_are_adjusted_as_their_inverses_are(p_values: list[float]) -> None:
    inverse = e_benjamini_hochberg([1.0 / p_value for p_value in p_values])
    assert inverse == pytest.approx(benjamini_hochberg(p_values), rel=1e-9)


@given(
    table=st.integers(2, 4).flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, 500), min_size=k, max_size=k), min_size=k, max_size=k
        )
    )
)
def test_kappa_is_the_same_for_exchanged_raters_and_lies_in_its_interval(
    table: list[list[int]],
) -> None:
    # Undefined with no item, or with all of them in one cell of the diagonal.
    items = sum(map(sum, table))
    assume(items > max(row[place] for place, row in enumerate(table)))
    kappa = cohen_kappa(table)
    exchanged = cohen_kappa(list(zip(*table, strict=True)))
    assert exchanged.value == pytest.approx(kappa.value, abs=1e-12)
    assert exchanged.interval.low == pytest.approx(kappa.interval.low, abs=1e-9)
    assert -1.0 <= kappa.interval.low <= kappa.value <= kappa.interval.high <= 1.0 + 1e-12


@given(count=counts(10_000), rate=rates)
def test_evidence_for_more_and_for_less_mirror_each_other(count: Count, rate: float) -> None:
    successes, n = count
    above = log_e_value(successes, n, rate, alternative="greater")
    mirrored = log_e_value(n - successes, n, 1.0 - rate, alternative="less")
    assert mirrored == pytest.approx(above, rel=1e-6, abs=1e-6)


@given(count=counts(10_000), rate=rates)
def test_two_sided_evidence_is_the_average_of_both_sides(count: Count, rate: float) -> None:
    successes, n = count
    both, above, below = (
        log_e_value(successes, n, rate, alternative=side)
        for side in ("two-sided", "greater", "less")
    )
    larger, smaller = sorted((math.log1p(-rate) + above, math.log(rate) + below), reverse=True)
    average = larger + math.log1p(math.exp(smaller - larger))
    assert both == pytest.approx(average, rel=1e-6, abs=1e-6)


@given(threshold=rates, confidence=confidences, share=st.floats(0, 1), limit=st.integers(1, 60))
def test_no_sequential_decision_is_wrong_oftener_than_stated(
    threshold: float, confidence: float, share: float, limit: int
) -> None:
    rule = sequential_rule(threshold, limit, confidence=confidence)
    alpha = 1.0 - confidence + 1e-12
    assert rule.outcome(threshold * share).good <= alpha
    assert rule.outcome(threshold + (1.0 - threshold) * share).bad <= alpha


@given(
    hypotheses=st.tuples(rates, rates).filter(lambda pair: abs(pair[0] - pair[1]) > 0.01),
    errors=st.tuples(st.floats(0.001, 0.4), st.floats(0.001, 0.4)),
    share=st.floats(0, 1),
    limit=st.integers(1, 60),
)
def test_no_decision_of_walds_test_is_wrong_oftener_than_stated(
    hypotheses: tuple[float, float], errors: tuple[float, float], share: float, limit: int
) -> None:
    bad_rate, good_rate = sorted(hypotheses)
    alpha, beta = errors
    test = WaldTest(good_rate=good_rate, bad_rate=bad_rate, alpha=alpha, beta=beta)
    rule = test.rule(limit)
    assert rule.outcome(bad_rate * share).good <= beta + 1e-12
    assert rule.outcome(good_rate + (1.0 - good_rate) * share).bad <= alpha + 1e-12


@given(threshold=rates, rate=st.floats(0, 1), limit=st.integers(1, 60))
def test_what_a_rule_leads_to_is_everything_that_can_happen(
    threshold: float, rate: float, limit: int
) -> None:
    outcome = sequential_rule(threshold, limit).outcome(rate)
    assert outcome.good + outcome.bad + outcome.undecided == pytest.approx(1.0)
    assert 0.0 < outcome.expected_trials <= limit + 1e-9


@given(threshold=rates, passed=st.integers(0, 20), failed=st.integers(0, 20), data=st.data())
def test_a_decision_taken_with_trials_in_flight_stands_however_they_end(
    threshold: float, passed: int, failed: int, data: st.DataObject
) -> None:
    rule: StoppingRule = sequential_rule(threshold, 60)
    in_flight = data.draw(st.integers(0, 20))
    decision = rule.decision(passed, failed, in_flight)
    passing = data.draw(st.integers(0, in_flight))
    if decision is not None:
        assert rule.decision(passed + passing, failed + in_flight - passing) == decision
