"""One measured figure, and whether it keeps what was promised of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from benchmarks.sample import Sample

__all__ = ["Figure", "Judgement", "judge"]


class Judgement(StrEnum):
    """What a figure says about its promise; the value is how a table puts it."""

    NOT_PROMISED = ""
    KEPT = "kept"
    UNCLEAR = "over, within noise"
    BROKEN = "BROKEN"
    NOT_MEASURED = "NOT MEASURED"

    @property
    def fails(self) -> bool:
        """Whether the benchmark ends as failed because of it."""
        return self in (Judgement.BROKEN, Judgement.NOT_MEASURED)


def judge(sample: Sample, limit: float | None) -> Judgement:
    """Compare a sample with the most that was promised.

    Broken is only what exceeds it by more than noise: with the lower end of its interval, too.
    """
    if limit is None:
        return Judgement.NOT_PROMISED
    if sample.median <= limit:
        return Judgement.KEPT
    return Judgement.BROKEN if sample.low > limit else Judgement.UNCLEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A line of the table.

    Args:
        name: What was measured.
        measured: The median of what was measured, with its unit.
        reference: The same of what it is compared with.
        compared: What compares them, one value for each pair; None if there is a problem.
        unit: Of `compared`: "times", or "s" for seconds beyond the reference.
        limit: The most that `compared` may be, if something was promised.
        problem: Why there is nothing to compare.
        optional: Whether a problem is no failure.
    """

    name: str
    measured: str = ""
    reference: str = ""
    compared: Sample | None = None
    unit: str = "times"
    limit: float | None = None
    problem: str = ""
    optional: bool = False

    @property
    def judgement(self) -> Judgement:
        """See `Judgement`."""
        if self.compared is not None:
            return judge(self.compared, self.limit)
        return Judgement.NOT_PROMISED if self.optional else Judgement.NOT_MEASURED
