"""A calibration as lines for a reader."""

from __future__ import annotations

from collections.abc import Sequence

from kensa.calibration import Calibration, Comparison, Judging, interval_of
from seatrial.spending import Spent
from seatrial.statistics import Kappa
from seatrial.text import one_line

__all__ = ["report_lines"]

_SHOWN = 20

# Landis and Koch (1977), Biometrics 33:159-174, page 165.
_WORDS = (
    (0.81, "almost perfect"),
    (0.61, "substantial"),
    (0.41, "moderate"),
    (0.21, "fair"),
    (0.0, "slight"),
)


def report_lines(
    judging: Judging, total: Calibration, calibrations: Sequence[Calibration], *, repeats: int
) -> list[str]:
    """Counts, figures with intervals at 95 %, what it cost, and the disagreements to read.

    Args:
        total: Of all comparisons.
        calibrations: By criteria; shown each if there are several.
        repeats: How often each output was judged.
    """
    labels = _counted(len(judging.comparisons), "label", "labels")
    flips = "no output was judged twice" if repeats > 1 else "needs --repeats 2"
    return [
        f"judge {one_line(total.model, limit=80)}, {labels}, {len(calibrations)} criteria",
        "",
        "                  judge pass  judge fail",
        f"  people pass     {total.true_pass:>10}  {total.false_fail:>10}",
        f"  people fail     {total.false_pass:>10}  {total.true_fail:>10}",
        *([f"  could not tell  {total.unable:>10}"] if total.unable else []),
        "",
        _share("agreement", total.agreement, "nothing was judged"),
        _share("sensitivity", total.sensitivity, "nothing that people passed was judged"),
        _share("specificity", total.specificity, "nothing that people failed was judged"),
        _share("flip rate", total.flip_rate, flips),
        _line("kappa", _kappa(total.kappa)),
        _line("cost", _cost(judging.spent)),
        *_by_criteria(calibrations),
        *_to_read(judging.comparisons),
        "",
    ]


def _line(name: str, value: str) -> str:
    return f"  {name:<13} {value}"


def _share(name: str, share: tuple[int, int], missing: str) -> str:
    interval = interval_of(share)
    if interval is None:
        return _line(name, f"cannot be computed: {missing}")
    part, whole = share
    limits = f"95 % interval {interval.low:.3f} to {interval.high:.3f}"
    return _line(name, f"{part / whole:.3f}  ({part}/{whole}; {limits})")


def _kappa(kappa: Kappa | None) -> str:
    if kappa is None:
        return "cannot be computed: needs outputs that people passed and outputs that they failed"
    word = next((word for least, word in _WORDS if kappa.value >= least), "poor")
    low, high = kappa.interval.low, kappa.interval.high
    return f"{kappa.value:.3f}  ({word}; 95 % interval {low:.3f} to {high:.3f})"


def _cost(spent: Spent) -> str:
    cost = f"${spent.known_usd:.4f}"
    if spent.unpriced:
        cost = f"more than {cost}" if spent.known_usd else "unknown"
    calls = _counted(spent.calls, "question", "questions")
    return f"{cost}  ({calls}, {spent.stored} answered from the cache)"


def _by_criteria(calibrations: Sequence[Calibration]) -> list[str]:
    if len(calibrations) < 2:
        return []
    lines = ["", "by criteria:"]
    for calibration in calibrations[:_SHOWN]:
        agreed, judged = calibration.agreement
        kappa = calibration.kappa
        figure = "no kappa" if kappa is None else f"kappa {kappa.value:.3f}"
        criteria = one_line(calibration.criteria, limit=80)
        lines.append(f"  {agreed}/{judged} agree, {figure}: {criteria}")
    return [*lines, *_rest(len(calibrations))]


def _to_read(comparisons: Sequence[Comparison]) -> list[str]:
    apart = [comparison for comparison in comparisons if comparison.disagrees]
    if not apart:
        return []
    title = f"{len(apart)} to read, where judge and people disagree:"
    return ["", title, *map(_told, apart[:_SHOWN]), *_rest(len(apart))]


def _told(comparison: Comparison) -> str:
    label = comparison.label
    people, judge = ("pass" if said else "fail" for said in (label.passed, comparison.judged))
    name = one_line(label.name, limit=40)
    criteria = one_line(label.criteria, limit=80)
    reason = one_line(comparison.reasoning, limit=300)
    return f"  {name}: people {people}, judge {judge} [{criteria}] {reason}"


def _rest(count: int) -> list[str]:
    return [f"  and {count - _SHOWN} more; --json has all"] if count > _SHOWN else []


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
