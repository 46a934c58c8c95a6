"""Rules that stop a series of trials early, and what they lead to, computed exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, SupportsIndex

from seatrial.statistics.arguments import checked_rate, whole

__all__ = ["Decision", "StoppingOutcome", "StoppingRule"]

Decision = Literal["good", "bad"]


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """After how many successes of n trials it is decided, for n from 0 to the limit.

    Attributes:
        least_good: At place n, the fewest successes that decide for "good"; n + 1 if none do.
        most_bad: At place n, the most successes that decide for "bad"; -1 if none do.
    """

    least_good: tuple[int, ...]
    most_bad: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.least_good or len(self.least_good) != len(self.most_bad):
            raise ValueError(
                f"{len(self.least_good)} and {len(self.most_bad)} limits: expected as many of "
                "each, from no trial on"
            )
        for n, (good, bad) in enumerate(zip(self.least_good, self.most_bad, strict=True)):
            if good <= bad:
                raise ValueError(
                    f"at n={n} good begins at {good} and bad ends at {bad}: they overlap"
                )

    @classmethod
    def of(
        cls, good: Callable[[int, int], bool], bad: Callable[[int, int], bool], limit: int
    ) -> StoppingRule:
        """The rule of two proofs: good(successes, n) and bad(failures, n), for n up to the limit.

        Needs proofs of which more successes, or failures, with as many of the other never make
        less, and more of the other alone never make more.
        """
        failures = _followed(bad, limit)
        return cls(_followed(good, limit), tuple(n - k for n, k in enumerate(failures)))

    @property
    def limit(self) -> int:
        """The most trials that the rule knows of."""
        return len(self.least_good) - 1

    def decision(
        self, successes: SupportsIndex, failures: SupportsIndex, in_flight: SupportsIndex = 0
    ) -> Decision | None:
        """What so many trials decide, or None.

        Trials in flight count as failures against "good" and as successes against "bad". So a
        decision is one that the trials started so far reach however the last of them end, and the
        errors of the rule hold even where failures take longer than successes, or the reverse.

        Raises:
            TypeError: If a count is no whole number.
            ValueError: If one is negative, or if there are more trials than the limit.
        """
        passed, failed = whole("successes", successes), whole("failures", failures)
        open_ = whole("in_flight", in_flight)
        n = passed + failed + open_
        if n > self.limit:
            raise ValueError(f"{n} trials: expected at most {self.limit}, the rule's limit")
        if passed >= self.least_good[n]:
            return "good"
        if passed + open_ <= self.most_bad[n]:
            return "bad"
        return None

    def outcome(self, rate: float) -> StoppingOutcome:
        """What the rule leads to where each trial succeeds with the true `rate`, in [0, 1].

        Exact: the probabilities of all numbers of successes that are still undecided are carried
        from trial to trial.
        """
        checked_rate("rate", rate)
        good = bad = expected = 0.0
        undecided = {0: 1.0}
        for n in range(self.limit + 1):
            if n:
                expected += sum(undecided.values())
                undecided = _one_more_trial(undecided, rate)
            good += sum(undecided.pop(k) for k in [*undecided] if k >= self.least_good[n])
            bad += sum(undecided.pop(k) for k in [*undecided] if k <= self.most_bad[n])
        return StoppingOutcome(good, bad, sum(undecided.values()), expected)


@dataclass(frozen=True, slots=True)
class StoppingOutcome:
    """Probabilities of how a series of trials ends, and how many trials it takes on average."""

    good: float
    bad: float
    undecided: float
    expected_trials: float


def _one_more_trial(undecided: dict[int, float], rate: float) -> dict[int, float]:
    following: dict[int, float] = {}
    for k, probability in undecided.items():
        following[k] = following.get(k, 0.0) + probability * (1.0 - rate)
        following[k + 1] = probability * rate
    return following


def _followed(proves: Callable[[int, int], bool], limit: int) -> tuple[int, ...]:
    """For n from 0 to the limit, the fewest k that prove at n; n + 1 where none do.

    From one n to the next the fewest k stays or rises by one: see `StoppingRule.of`.
    """
    fewest = []
    k = 0
    for n in range(limit + 1):
        while k <= n and not proves(k, n):
            k += 1
        fewest.append(k)
    return tuple(fewest)
