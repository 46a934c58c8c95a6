"""Two commands measured in turn, so that what disturbs the machine disturbs both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.child import Command, Measurement, measure
from benchmarks.figure import Figure
from benchmarks.sample import Sample

__all__ = ["Pairs", "megabytes", "run_pairs", "seconds"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """What was measured, and the reference measured right after it, pair by pair."""

    measured: tuple[Measurement, ...]
    reference: tuple[Measurement, ...]

    def time(self, name: str, *, limit: float | None = None) -> Figure:
        """Wall time as times the reference's."""
        return self._times(f"{name}: time", lambda one: one.wall_s, seconds, limit)

    def time_beyond(self, name: str, *, limit: float | None = None) -> Figure:
        """Seconds of wall time that the reference did not need."""
        return Figure(
            name=f"{name}: time beyond start-up",
            measured=seconds(one.wall_s for one in self.measured),
            reference=seconds(one.wall_s for one in self.reference),
            compared=Sample.of(one.wall_s - other.wall_s for one, other in self._each()),
            unit="s",
            limit=limit,
        )

    def processor(self, name: str) -> Figure:
        """Processor time as times the reference's; hardly disturbed by a machine's other work."""
        return self._times(f"{name}: processor time", lambda one: one.cpu_s, seconds)

    def memory(self, name: str, *, limit: float | None = None) -> Figure:
        """Peak memory as times the reference's."""
        return self._times(f"{name}: peak memory", lambda one: one.peak_bytes, megabytes, limit)

    def _times(
        self,
        name: str,
        value: Callable[[Measurement], float],
        shown: Callable[[Iterator[float]], str],
        limit: float | None = None,
    ) -> Figure:
        return Figure(
            name=name,
            measured=shown(map(value, self.measured)),
            reference=shown(map(value, self.reference)),
            compared=Sample.of(value(one) / value(other) for one, other in self._each()),
            limit=limit,
        )

    def _each(self) -> Iterator[tuple[Measurement, Measurement]]:
        return zip(self.measured, self.reference, strict=True)


def run_pairs(measured: Command, reference: Command, *, pairs: int, warm_ups: int = 1) -> Pairs:
    """Measure both in turn, `pairs` times, after as many unmeasured turns as `warm_ups` says.

    Raises:
        ChildError: If one of them did not do its work.
    """
    turns = [(measure(measured), measure(reference)) for _ in range(warm_ups + pairs)]
    ours, theirs = zip(*turns[warm_ups:], strict=True)
    return Pairs(ours, theirs)


def seconds(values: Iterator[float]) -> str:
    """The median of some seconds, for a reader."""
    middle = median(values)
    return f"{middle:.3f} s" if middle < 1 else f"{middle:.2f} s"


def megabytes(values: Iterator[float]) -> str:
    """The median of some bytes, for a reader."""
    return f"{median(values) / 1e6:.0f} MB"
