"""Trials that travel between xdist's processes with all that they carry."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figure import Figure
from benchmarks.pairing import run_pairs
from benchmarks.setting import Setting
from benchmarks.suites import Agent

__all__ = ["figures"]

_TRIALS = 2_000
_LIMIT = 1.3


def figures(setting: Setting) -> Iterator[Figure]:
    """Trials with transcripts of 20 kB against plain tests that receive as much, two workers."""
    environments, agent = setting.environments, Agent(answer_characters=20_000)
    workers = ("-n", "2")
    ours = setting.pytest(environments.seatrial, setting.probes(agent, _TRIALS), _TRIALS, *workers)
    plain = setting.pytest(environments.bare, setting.plain(agent, _TRIALS), _TRIALS, *workers)
    pairs = run_pairs(ours, plain, pairs=setting.effort.long, warm_ups=0)
    name = f"{_TRIALS:,} trials of 20 kB, `-n 2`"
    yield pairs.time(name, limit=_LIMIT)
    yield pairs.processor(name)
    yield pairs.memory(f"{name}, largest process")
