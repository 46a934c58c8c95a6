from __future__ import annotations

import pytest
from benchmarks.figure import Figure, Judgement, judge
from benchmarks.sample import Sample


@pytest.mark.parametrize(
    ("values", "judgement"),
    [
        pytest.param((1.0, 1.1, 1.2, 1.3, 1.9), Judgement.KEPT, id="median below"),
        pytest.param((1.3, 1.3, 1.3, 1.3, 1.3), Judgement.KEPT, id="exactly as promised"),
        pytest.param((1.29, 1.4, 1.5, 1.6, 1.7), Judgement.UNCLEAR, id="one value below"),
        pytest.param((1.31, 1.4, 1.5, 1.6, 1.7), Judgement.BROKEN, id="every value over"),
    ],
)
def test_a_promise_is_broken_only_by_more_than_the_noise_of_five(
    values: tuple[float, ...], judgement: Judgement
) -> None:
    assert judge(Sample(values), 1.3) is judgement


def test_an_outlier_does_not_save_a_promise_that_fifteen_pairs_break() -> None:
    values = (1.0, 1.05, 1.2, *[1.2 + number / 100 for number in range(12)])
    assert judge(Sample(values), 1.1) is Judgement.BROKEN
    assert judge(Sample(values[:5]), 1.1) is Judgement.UNCLEAR


def test_what_was_not_promised_is_not_judged() -> None:
    figure = Figure(name="memory", compared=Sample((9.0,)))
    assert figure.judgement is Judgement.NOT_PROMISED
    assert not figure.judgement.fails


def test_a_figure_is_judged_by_its_own_limit() -> None:
    slow = Sample((2.0,) * 5)
    assert Figure(name="time", compared=slow, limit=1.9).judgement is Judgement.BROKEN
    assert Figure(name="time", compared=slow, limit=2.1).judgement is Judgement.KEPT


def test_what_could_not_be_measured_fails_unless_it_is_optional() -> None:
    missing = Figure(name="start-up", problem="ended with 4")
    assert missing.judgement is Judgement.NOT_MEASURED
    assert missing.judgement.fails
    optional = Figure(name="start-up", problem="does not install", optional=True)
    assert not optional.judgement.fails


@pytest.mark.parametrize("judgement", Judgement)
def test_only_a_broken_or_unmeasured_promise_fails(judgement: Judgement) -> None:
    failing = {Judgement.BROKEN, Judgement.NOT_MEASURED}
    assert judgement.fails is (judgement in failing)
