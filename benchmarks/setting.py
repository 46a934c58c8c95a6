"""What the measurements of one run of the benchmark share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.child import Command
from benchmarks.environments import Environment, Environments
from benchmarks.suites import Agent, write_evals, write_plain, write_probes

__all__ = ["FULL", "QUICK", "Effort", "Setting"]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    Args:
        short: Pairs of commands that take less than a second.
        long: Pairs of commands that take seconds. Eight are the fewest of which one, disturbed by
            something else, cannot decide.
        unpromised: Pairs for figures that nothing was promised of.
        sizes: How many trials the overhead of a trial is measured with.
        growth: The number of trials up to which it must not grow; the base is the largest size.
    """

    short: int
    long: int
    unpromised: int
    sizes: tuple[int, ...]
    growth: int


FULL = Effort(short=15, long=8, unpromised=3, sizes=(1_000, 5_000), growth=50_000)
QUICK = Effort(short=5, long=2, unpromised=1, sizes=(1_000,), growth=5_000)


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and how much to measure.

    Args:
        environments: What there is to measure in.
        effort: How much.
        folder: For suites; each is written once.
    """

    environments: Environments
    effort: Effort
    folder: Path

    def pytest(self, environment: Environment, suite: Path, passed: int, *options: str) -> Command:
        """The command that runs a suite in an environment."""
        words = (environment.program("python"), "-m", "pytest", "-q", *options)
        return Command(words=words, folder=suite, passed=passed)

    def plain(self, agent: Agent, trials: int) -> Path:
        """A suite for pytest alone; see `benchmarks.suites`."""
        return self._suite("plain", agent, trials, write_plain)

    def probes(self, agent: Agent, trials: int) -> Path:
        """A suite of safety trials."""
        return self._suite("probes", agent, trials, write_probes)

    def evals(self, agent: Agent, trials: int) -> Path:
        """A suite of evals."""
        return self._suite("evals", agent, trials, write_evals)

    def _suite(
        self, kind: str, agent: Agent, trials: int, write: Callable[[Path, Agent, int], None]
    ) -> Path:
        manner = "blocking" if agent.blocking else "awaited"
        name = f"{kind}-{trials}-{agent.wait_s:g}s-{agent.answer_characters}-{manner}"
        if not (self.folder / name).exists():
            write(self.folder / name, agent, trials)
        return self.folder / name
