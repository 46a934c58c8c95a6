"""Trials that wait at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.child import Command
from benchmarks.figure import Figure
from benchmarks.pairing import Pairs, run_pairs
from benchmarks.setting import Setting
from benchmarks.suites import Agent

__all__ = ["figures"]

_BEYOND_START_LIMIT_S = 1.5


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Trials that wait, and what is said about the time they take together.

    Args:
        name: For the reader.
        agent: What waits.
        trials: How many.
        options: How they run.
        limit: The most seconds beyond start-up that are promised, if any.
    """

    name: str
    agent: Agent
    trials: int
    options: tuple[str, ...]
    limit: float | None = None


def figures(setting: Setting) -> Iterator[Figure]:
    """Waiting trials against one that does not wait, and what being concurrent costs."""
    asleep, blocked = Agent(wait_s=1), Agent(wait_s=1, blocking=True)
    in_one = ("--trial-concurrency", "100")
    in_two = ("-n", "2", "--trial-concurrency", "50")
    limit = _BEYOND_START_LIMIT_S
    for waiting in (
        _Waiting("100 async one-second trials, 100 at once", asleep, 100, in_one, limit),
        _Waiting("100 sync one-second trials, 100 at once", blocked, 100, in_one, limit),
        _Waiting("100 async one-second trials, `-n 2`, 50 at once each", asleep, 100, in_two),
        _Waiting("100 sync one-second trials, `-n 2`, 50 at once each", blocked, 100, in_two),
        _Waiting(
            "1,000 async two-second trials, 200 at once (ideal: 10 s)",
            Agent(wait_s=2),
            1_000,
            ("--trial-concurrency", "200"),
        ),
    ):
        pairs = _beyond_start(setting, waiting)
        yield pairs.time_beyond(waiting.name, limit=waiting.limit)
        yield pairs.memory(waiting.name)
    yield from _at_no_latency(setting)


def _beyond_start(setting: Setting, waiting: _Waiting) -> Pairs:
    """Measure them against the same command with one trial that does not wait."""
    at_once = Agent(blocking=waiting.agent.blocking)
    all_of_them = _command(setting, waiting.agent, waiting.trials, waiting.options)
    one = _command(setting, at_once, 1, waiting.options)
    effort = setting.effort
    pairs = effort.unpromised if waiting.limit is None else effort.long
    return run_pairs(all_of_them, one, pairs=pairs, warm_ups=0)


def _command(setting: Setting, agent: Agent, trials: int, options: tuple[str, ...]) -> Command:
    """Sync trials are evals: a probe is always awaited."""
    suite = setting.evals(agent, trials) if agent.blocking else setting.probes(agent, trials)
    return setting.pytest(setting.environments.seatrial, suite, trials, *options)


def _at_no_latency(setting: Setting) -> Iterator[Figure]:
    """What trials that never wait pay for being concurrent."""
    trials = max(setting.effort.sizes)
    concurrent = _command(setting, Agent(), trials, ("--trial-concurrency", "20"))
    serial = _command(setting, Agent(), trials, ())
    pairs = run_pairs(concurrent, serial, pairs=setting.effort.unpromised, warm_ups=0)
    name = f"{trials:,} zero-latency trials, 20 at once against one"
    yield pairs.time(name)
    yield pairs.processor(name)
    yield pairs.memory(name)
