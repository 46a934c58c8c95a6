"""Whether a trial among 50,000 costs what one among 5,000 does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.child import Command, Measurement, measure
from benchmarks.figure import Figure
from benchmarks.sample import Sample
from benchmarks.setting import Setting
from benchmarks.suites import Agent
from benchmarks.trials import ARTIFACTS

__all__ = ["figures"]

# What "linear" tolerates: ten times the trials may cost 1.25 times as much each. What is quadratic
# costs up to ten times as much each, what is n log n 1.27 times. Below that lie caches that no
# longer hold everything and a garbage collector with more to go through, which pytest has as well.
_LIMIT = 1.25


def figures(setting: Setting) -> Iterator[Figure]:
    """Time and memory of a trial in a large run against one in a smaller, and pytest's own."""
    environments, agent = setting.environments, Agent()

    def probes(trials: int) -> Command:
        return setting.pytest(environments.seatrial, setting.probes(agent, trials), trials)

    def evals(trials: int) -> Command:
        suite = setting.evals(agent, trials)
        return setting.pytest(environments.seatrial, suite, trials, ARTIFACTS)

    def plain(trials: int) -> Command:
        return setting.pytest(environments.bare, setting.plain(agent, trials), trials)

    few, many = max(setting.effort.sizes), setting.effort.growth
    for kind, command, limit in (
        ("`Probes.behavior`, JSON sink", probes, _LIMIT),
        ("`case.run`, artifacts", evals, _LIMIT),
        ("plain tests, pytest alone", plain, None),
    ):
        yield from _growth(f"each of {many:,} ({kind})", command, few, many, limit)


def _growth(
    name: str, command: Callable[[int], Command], few: int, many: int, limit: float | None
) -> Iterator[Figure]:
    """The cost of each of `many` against each of `few`, what a single one costs taken off.

    The large run is measured once, between two small ones: what disturbs a minute disturbs both.
    """
    single = measure(command(1))
    before, large, after = (measure(command(trials)) for trials in (few, many, few))

    def compare(quantity: str, unit: str, cost: Callable[[Measurement], float]) -> Figure:
        of_few = [(cost(small) - cost(single)) / (few - 1) for small in (before, after)]
        of_many = (cost(large) - cost(single)) / (many - 1)
        return Figure(
            name=f"{name}: {quantity}",
            measured=f"{of_many:.2f} {unit}",
            reference=f"{median(of_few):.2f} {unit}",
            compared=Sample.of(of_many / of_one for of_one in of_few),
            limit=limit,
        )

    yield compare("time", "ms", lambda taken: taken.wall_s * 1e3)
    yield compare("memory", "kB", lambda taken: taken.peak_bytes / 1e3)
