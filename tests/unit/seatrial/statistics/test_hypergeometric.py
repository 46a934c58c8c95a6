"""The hypergeometric distribution against scipy."""

from __future__ import annotations

import pytest
from scipy.stats import hypergeom

from seatrial.statistics.hypergeometric import Hypergeometric

SIZES = [(1, 1), (3, 9), (9, 3), (50, 60), (1_000, 200), (100_000, 100_000)]


@pytest.mark.parametrize(("n_1", "n_2"), SIZES)
def test_probabilities_and_tails_agree_with_scipy(n_1: int, n_2: int) -> None:
    total = n_1 + n_2
    for successes in {0, 1, n_1 // 2, n_1, total // 2, total - 1, total}:
        ours = Hypergeometric(successes, n_1, n_2)
        theirs = hypergeom(total, n_1, successes)
        assert (ours.least, ours.most) == theirs.support()
        assert ours.least <= ours.mode <= ours.most
        for x in {ours.least - 1, ours.least, ours.mode - 2, ours.mode, ours.mode + 5, ours.most}:
            case = (successes, x)
            if ours.least <= x <= ours.most:
                assert ours.log_pmf(x) == pytest.approx(theirs.logpmf(x), rel=1e-8, abs=1e-8), case
            assert ours.at_most(x) == pytest.approx(theirs.cdf(x), rel=1e-7, abs=1e-250), case
            assert ours.at_least(x) == pytest.approx(theirs.sf(x - 1), rel=1e-7, abs=1e-250), case


def test_no_value_is_more_probable_than_the_mode() -> None:
    for n_1 in range(1, 8):
        for n_2 in range(1, 8):
            for successes in range(n_1 + n_2 + 1):
                given = Hypergeometric(successes, n_1, n_2)
                best = max(given.log_pmf(x) for x in range(given.least, given.most + 1))
                assert given.log_pmf(given.mode) == pytest.approx(best, abs=1e-12)


def test_the_whole_is_certain_and_what_cannot_be_is_impossible() -> None:
    given = Hypergeometric(5, 4, 3)
    assert given.at_least(given.least) == given.at_most(given.most) == 1.0
    assert given.at_least(given.most + 1) == given.at_most(given.least - 1) == 0.0
