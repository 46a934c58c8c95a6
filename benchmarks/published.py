"""The same trials under PyPI's packages `rampart` and `kensa`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.child import ChildError, Command
from benchmarks.figure import Figure
from benchmarks.pairing import run_pairs
from benchmarks.setting import Setting
from benchmarks.suites import Agent, write_evals, write_probes
from benchmarks.trials import ARTIFACTS

__all__ = ["figures"]

_PROBES = 1_000
_EVALS = 100  # the time that PyPI's takes grows with the square of it: 500 take minutes


def figures(setting: Setting) -> Iterator[Figure]:
    """Seatrial as times what the package takes for as many trials.

    A package that could not be installed, or that cannot run the suite, is a figure that says so.
    """
    environments, agent = setting.environments, Agent()
    pairs = setting.effort.unpromised
    for name, reason in environments.missing.items():
        yield Figure(name=f"PyPI's `{name}`", problem=f"does not install: {reason}", optional=True)
    if rampart := environments.published.get("rampart"):
        suite = setting.folder / "published-probes"
        write_probes(suite, agent, _PROBES, published=True)
        yield from _compared(
            f"{_PROBES:,} probes against PyPI's `rampart`",
            setting.pytest(environments.seatrial, setting.probes(agent, _PROBES), _PROBES),
            setting.pytest(rampart, suite, _PROBES),
            pairs,
        )
    if kensa := environments.published.get("kensa"):
        suite = setting.folder / "published-evals"
        write_evals(suite, agent, _EVALS, published=True)
        yield from _compared(
            f"{_EVALS:,} evals with artifacts against PyPI's `kensa`",
            setting.pytest(environments.seatrial, setting.evals(agent, _EVALS), _EVALS, ARTIFACTS),
            setting.pytest(kensa, suite, _EVALS, ARTIFACTS),
            pairs,
        )


def _compared(name: str, ours: Command, theirs: Command, pairs: int) -> Iterator[Figure]:
    try:
        measured = run_pairs(ours, theirs, pairs=pairs, warm_ups=0)
    except ChildError as error:
        yield Figure(name=name, problem=str(error), optional=True)
        return
    yield measured.time(name)
    yield measured.memory(name)
