"""What one trial costs beside a parametrized test that does the same."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figure import Figure
from benchmarks.pairing import run_pairs
from benchmarks.setting import Setting
from benchmarks.suites import Agent

__all__ = ["ARTIFACTS", "figures"]

ARTIFACTS = "--kensa-write-artifacts"
_TIME_LIMIT = 1.3
_MEMORY_LIMIT = 1.5


def figures(setting: Setting) -> Iterator[Figure]:
    """Zero-latency trials through both faces, each against as many plain async tests."""
    environments, agent = setting.environments, Agent()
    for trials in setting.effort.sizes:
        plain = setting.pytest(environments.bare, setting.plain(agent, trials), trials)
        probes = setting.pytest(environments.seatrial, setting.probes(agent, trials), trials)
        evals = setting.pytest(
            environments.seatrial, setting.evals(agent, trials), trials, ARTIFACTS
        )
        for kind, ours in (
            ("trials through `Probes.behavior`, JSON sink", probes),
            ("trials through `case.run`, artifacts", evals),
        ):
            pairs = run_pairs(ours, plain, pairs=setting.effort.long, warm_ups=0)
            name = f"{trials:,} {kind}"
            yield pairs.time(name, limit=_TIME_LIMIT)
            yield pairs.processor(name)
            yield pairs.memory(name, limit=_MEMORY_LIMIT)
