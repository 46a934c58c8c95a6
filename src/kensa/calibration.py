"""Calibration: how far a judge agrees with people, on outputs that both have judged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kensa.judge import JudgeResult
from kensa.labels import Label
from kensa.model_judge import ask_seat_async, judge_fingerprint
from seatrial.errors import ModelConfigurationError, ModelError
from seatrial.models import ModelChoice
from seatrial.outcome import Outcome
from seatrial.panel import Seat
from seatrial.scope import TrialScope, bind, unbind
from seatrial.snapshot import JsonObject
from seatrial.spending import Spending, Spent
from seatrial.statistics import Interval, Kappa, clopper_pearson, cohen_kappa
from seatrial.text import one_line
from seatrial.trial import Amendment

__all__ = [
    "CONFIDENCE",
    "Calibration",
    "Comparison",
    "Judging",
    "calibrate_async",
    "calibrations_of",
    "interval_of",
    "overall",
]

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Comparison:
    """One label, and what the judge said of the same output.

    Attributes:
        votes: The judge's answers, one for each repeat; None where it could not tell.
        reasoning: Of the first answer, or why there is none.
    """

    label: Label
    votes: tuple[bool | None, ...]
    reasoning: str

    @property
    def judged(self) -> bool | None:
        """The first answer."""
        return self.votes[0]

    @property
    def disagrees(self) -> bool:
        """Whether judge and person said opposite things."""
        return self.judged is not None and self.judged is not self.label.passed

    @property
    def flips(self) -> bool | None:
        """Whether the judge contradicted itself; None where it gave fewer than two answers."""
        answers = [vote for vote in self.votes if vote is not None]
        return len(set(answers)) > 1 if len(answers) > 1 else None


@dataclass(frozen=True, slots=True)
class Judging:
    """The comparisons, in the order of the labels, and what they cost."""

    comparisons: tuple[Comparison, ...]
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How a model judges by one rubric, against people.

    Attributes:
        rubric: Fingerprint of criteria and instructions.
        model: Provider and model, as in "openai:gpt-5.4-mini".
        true_pass: Both found the criteria met.
        false_pass: The judge alone did.
        false_fail: The person alone did.
        true_fail: Neither did.
        unable: The judge could not tell.
        repeated: Outputs that it judged more than once.
        flipped: Those on which it contradicted itself.
    """

    rubric: str
    model: str
    criteria: str
    true_pass: int = 0
    false_pass: int = 0
    false_fail: int = 0
    true_fail: int = 0
    unable: int = 0
    repeated: int = 0
    flipped: int = 0

    @property
    def judged(self) -> int:
        """Outputs of which the judge could tell."""
        return self.true_pass + self.false_pass + self.false_fail + self.true_fail

    @property
    def agreement(self) -> tuple[int, int]:
        """Outputs on which both agree, of those judged."""
        return self.true_pass + self.true_fail, self.judged

    @property
    def sensitivity(self) -> tuple[int, int]:
        """Outputs that the judge passed, of those that people did."""
        return self.true_pass, self.true_pass + self.false_fail

    @property
    def specificity(self) -> tuple[int, int]:
        """Outputs that the judge failed, of those that people did."""
        return self.true_fail, self.true_fail + self.false_pass

    @property
    def flip_rate(self) -> tuple[int, int]:
        """Outputs on which the judge contradicted itself, of those that it judged again."""
        return self.flipped, self.repeated

    @property
    def kappa(self) -> Kappa | None:
        """Agreement beyond chance; None unless people passed some of what was judged, not all.

        Where they said the same of everything, kappa is 0 however well the judge agrees.
        """
        table = [[self.true_pass, self.false_fail], [self.false_pass, self.true_fail]]
        return cohen_kappa(table, confidence=CONFIDENCE) if all(map(any, table)) else None

    def document(self) -> JsonObject:
        """As it is stored: the counts, and the figures for who reads them."""
        kappa = self.kappa
        return {
            "judge": "kensa",
            "rubric": self.rubric,
            "model": self.model,
            "criteria": self.criteria,
            "counts": {
                "true_pass": self.true_pass,
                "false_pass": self.false_pass,
                "false_fail": self.false_fail,
                "true_fail": self.true_fail,
                "unable": self.unable,
                "repeated": self.repeated,
                "flipped": self.flipped,
            },
            "agreement": _figure(self.agreement),
            "sensitivity": _figure(self.sensitivity),
            "specificity": _figure(self.specificity),
            "flip_rate": _figure(self.flip_rate),
            "kappa": None
            if kappa is None
            else {"value": kappa.value, "low": kappa.interval.low, "high": kappa.interval.high},
        }


def _figure(share: tuple[int, int]) -> JsonObject | None:
    interval = interval_of(share)
    if interval is None:
        return None
    part, whole = share
    return {"rate": part / whole, "of": whole, "low": interval.low, "high": interval.high}


def interval_of(share: tuple[int, int]) -> Interval | None:
    """The exact interval of a share, at 95 %; None of nothing."""
    part, whole = share
    return clopper_pearson(part, whole, confidence=CONFIDENCE) if whole else None


async def calibrate_async(
    labels: Sequence[Label],
    *,
    model: ModelChoice,
    repeats: int = 1,
    at_once: int = 32,
    use_cache: bool = True,
    tell: Callable[[int], None] = lambda done: None,
) -> Judging:
    """Have the judge judge every label's output.

    Args:
        labels: What people said.
        model: The judge's model.
        repeats: How often each output is judged, from 1. No repeat is the stored answer of another.
        at_once: Questions in flight, at most; from 1.
        use_cache: Whether the stored answer to a question that was asked before will do.
        tell: Called with the number of labels that are done.

    Raises:
        ModelConfigurationError: If the model cannot be asked at all.
        MissingExtraError: If a package that it needs is not installed.
    """
    scope = TrialScope(None, "calibration", use_cache=use_cache)  # gathers what is spent
    token = bind(scope)
    try:
        comparisons = await _comparisons(labels, model, repeats, at_once, tell)
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    finally:
        unbind(token)
    return Judging(comparisons, _spent(scope))


def _spent(scope: TrialScope) -> Spent:
    calls = Amendment(
        nodeid=scope.nodeid, outcome=Outcome.PASSED, model_calls=tuple(scope.model_calls)
    )
    return Spending().plus(calls).by_purpose.get("judge", Spent())


async def _comparisons(
    labels: Sequence[Label],
    model: ModelChoice,
    repeats: int,
    at_once: int,
    tell: Callable[[int], None],
) -> tuple[Comparison, ...]:
    turns = asyncio.Semaphore(at_once)
    done = 0

    async def vote(label: Label, sample: int) -> JudgeResult | ModelError:
        async with turns:
            try:
                return await ask_seat_async(label.question, Seat(model, sample))
            except ModelConfigurationError:
                raise
            except ModelError as error:
                return error

    async def compare(label: Label) -> Comparison:
        nonlocal done
        answers = [await vote(label, sample) for sample in range(1, repeats + 1)]
        done += 1
        tell(done)
        return _comparison(label, answers)

    async with asyncio.TaskGroup() as group:
        running = [group.create_task(compare(label)) for label in labels]
    return tuple(task.result() for task in running)


def _comparison(label: Label, answers: Sequence[JudgeResult | ModelError]) -> Comparison:
    votes = tuple(None if isinstance(a, ModelError) else a.passed for a in answers)
    first = answers[0]
    reasoning = (
        one_line(str(first), limit=500) if isinstance(first, ModelError) else first.reasoning
    )
    return Comparison(label, votes, reasoning)


def calibrations_of(
    comparisons: Sequence[Comparison], model: ModelChoice
) -> tuple[Calibration, ...]:
    """One calibration for each of the criteria, in order of first appearance."""
    by_criteria: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        by_criteria.setdefault(comparison.label.criteria, []).append(comparison)
    return tuple(
        _counted(criteria, judge_fingerprint(criteria), model.name, members)
        for criteria, members in by_criteria.items()
    )


def overall(comparisons: Sequence[Comparison], model: ModelChoice) -> Calibration:
    """All of them together."""
    return _counted("", "", model.name, comparisons)


def _counted(criteria: str, rubric: str, model: str, members: Sequence[Comparison]) -> Calibration:
    def count(human: bool, judged: bool) -> int:
        return sum(c.label.passed is human and c.judged is judged for c in members)

    flips = [comparison.flips for comparison in members]
    return Calibration(
        rubric=rubric,
        model=model,
        criteria=criteria,
        true_pass=count(human=True, judged=True),
        false_pass=count(human=False, judged=True),
        false_fail=count(human=True, judged=False),
        true_fail=count(human=False, judged=False),
        unable=sum(comparison.judged is None for comparison in members),
        repeated=sum(flip is not None for flip in flips),
        flipped=sum(flip is True for flip in flips),
    )
