"""An evaluator that asks a language model, or a panel of several."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from rampart.core.errors import EvaluatorError
from rampart.core.evaluator import BaseEvaluator
from rampart.core.llm import LLMConfig
from rampart.core.persona import Persona
from rampart.core.types import EvalContext, EvalOutcome, EvalResult, TranscriptScope
from rampart.evaluators.judge_prompt import (
    FIXED_RULES,
    NEUTRAL_EVALUATOR,
    VERDICT_SCHEMA,
    cut_short,
    instructions,
    question,
    undetermined,
    verdict_of,
)
from rampart.targets import AskedModel, Inquiry, PromptTarget, Respondent, respondent_of
from seatrial.errors import MissingExtraError, ModelError, ModelProviderError
from seatrial.scope import current_scope
from seatrial.text import one_line

if TYPE_CHECKING:
    from seatrial.models.settings import RequestSettings
    from seatrial.panel import Panel

__all__ = ["LLMJudge"]

logger = logging.getLogger(__name__)

_NO_VERDICT = ("empty", "refused", "throttled", "timeout", "unusable")
"""Kinds of failure of a judge that was reached and yet gave no verdict."""

_SHOWN_RATIONALE = 500
"""Characters of each vote's reason that a panel that disagrees shows."""


class LLMJudge(BaseEvaluator):
    """Detects what `objective` says, as a language model sees it.

    A judge that is reached but gives no verdict (no answer in time, a rate limit, an empty answer,
    a refusal, an answer in the wrong form) leaves it UNDETERMINED, and so does one that is less
    sure than not. Where judges are disabled in the session, nobody is asked: UNDETERMINED.

    As any evaluator that does not say otherwise it is taken to need tool calls. For an objective
    about the agent's words alone, set `requires = frozenset({Channel.TEXT})`.

    Args:
        objective: What to look for, in words: "The agent reveals its system prompt."
        llm: The model to ask.
        target: Who to ask instead: anything with PyRIT's `send_prompt_async`.
        persona: Who the judge is; by default `NEUTRAL_EVALUATOR`.
        scope: Whether it sees the whole conversation or its newest turn.
        panel: Several votes instead of one: of the panel's own models, or several samples of llm
            or target. Who votes otherwise is shown in the rationale.

    Raises:
        TypeError: Unless exactly one of llm, target and the panel's models says who is asked.
        ValueError: If the objective is blank.
    """

    def __init__(
        self,
        *,
        objective: str,
        llm: LLMConfig | None = None,
        target: PromptTarget | None = None,
        persona: Persona | None = None,
        scope: TranscriptScope = TranscriptScope.FULL,
        panel: Panel | None = None,
    ) -> None:
        self._seats = _seats(llm, target, panel)
        if not isinstance(objective, str) or not objective.strip():
            raise ValueError(f"objective must be a non-empty string, not {objective!r}")
        self._objective = objective
        self._persona = NEUTRAL_EVALUATOR if persona is None else persona
        self._scope = TranscriptScope(scope)
        self._panel = panel

    @classmethod
    def from_target(
        cls,
        *,
        target: PromptTarget,
        objective: str,
        persona: Persona | None = None,
        scope: TranscriptScope = TranscriptScope.FULL,
        panel: Panel | None = None,
    ) -> Self:
        """A judge that asks a target of PyRIT's shape; arguments and errors as for the class."""
        return cls(objective=objective, target=target, persona=persona, scope=scope, panel=panel)

    def __repr__(self) -> str:
        return f"LLMJudge(objective={self._objective!r})"

    def _build_system_prompt(self, *, context: EvalContext) -> str:
        """The instructions, for a subclass to override.

        What the judge is given, what it must not trust and how it answers is added to them.
        """
        del context
        return instructions(self._persona, self._objective)

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        """Ask about the conversation, each time anew.

        Raises:
            EvaluatorError: If no judge could be asked.
        """
        trial = current_scope()
        if trial is not None and trial.judge_disabled:
            return undetermined("not judged: judges are disabled in this session")
        system = f"{self._build_system_prompt(context=context)}\n\n{FIXED_RULES}"
        document, left_out = question(context, self._scope)
        votes = await asyncio.gather(*(self._vote(system, document, seat) for seat in self._seats))
        result = self._settle(votes)
        if left_out and result.outcome is EvalOutcome.NOT_DETECTED:
            return replace(
                result,
                outcome=EvalOutcome.UNDETERMINED,
                rationale=f"{left_out} characters were too many to show to the judge; "
                f"in the rest: {result.rationale}",
            )
        return result

    async def _vote(self, system: str, document: str, seat: _Seat) -> _Vote:
        inquiry = Inquiry(
            system=system,
            user=document,
            schema=VERDICT_SCHEMA,
            purpose="judge",
            settings=self._settings(),
            stored=True,
            sample=seat.sample,
        )
        try:
            answer = await seat.respondent.answer_async(inquiry)
        except (ModelError, MissingExtraError) as error:
            logger.warning(
                "the judge %s (%s) gave no verdict: %s",
                one_line(self._persona.name),
                one_line(seat.respondent.name),
                one_line(str(error)),
            )
            return _Vote(seat.respondent.name, None, error)
        return _Vote(seat.respondent.name, verdict_of(answer))

    def _settings(self) -> RequestSettings:
        from seatrial.models.settings import RequestSettings

        # Samples of one model that were all pinned would be one sample.
        pinned = self._panel is None or self._panel.samples == 1
        return RequestSettings(temperature=0.0 if pinned else None)

    def _settle(self, votes: Sequence[_Vote]) -> EvalResult:
        """What the votes amount to.

        Raises:
            EvaluatorError: If a judge is misconfigured, or none gave a verdict and one could not
                be reached.
        """
        troubles = [vote.trouble for vote in votes if vote.trouble is not None]
        verdicts = [vote.result for vote in votes if vote.result is not None]
        for trouble in troubles:
            is_passing = isinstance(trouble, ModelProviderError) and (
                bool(verdicts) or trouble.kind in _NO_VERDICT
            )
            if not is_passing:
                raise EvaluatorError(f"the judge could not be asked: {trouble}") from trouble
        if not verdicts:
            return undetermined(f"the judge gave no verdict: {troubles[0]}")
        return verdicts[0] if self._panel is None else _of_panel(self._panel, votes)


@dataclass(frozen=True, slots=True)
class _Seat:
    """Who votes, and which of its votes it is, from 1."""

    respondent: Respondent
    sample: int


@dataclass(frozen=True, slots=True)
class _Vote:
    """One judge's answer, or why there is none."""

    judge: str
    result: EvalResult | None
    trouble: ModelError | MissingExtraError | None = None

    @property
    def yes_or_no(self) -> bool | None:
        if self.result is None or self.result.outcome is EvalOutcome.UNDETERMINED:
            return None
        return self.result.detected

    def __str__(self) -> str:
        if self.result is None:
            return f"{self.judge}: no verdict ({self.trouble})"
        told = f"{self.judge}: {self.result.outcome.value}, {self.result.confidence:g}"
        reason = self.result.rationale[:_SHOWN_RATIONALE]
        return f"{told} ({reason})" if reason else told


def _seats(
    llm: LLMConfig | None, target: PromptTarget | None, panel: Panel | None
) -> tuple[_Seat, ...]:
    if panel is None or not panel.models:
        respondent = respondent_of("LLMJudge", llm, target)
        return tuple(_Seat(respondent, n) for n in range(1, 1 + (panel.samples if panel else 1)))
    if llm is not None or target is not None:
        raise TypeError(
            "LLMJudge asks the panel's models, or llm or target, not both: "
            "put all who vote into the panel"
        )
    return tuple(
        _Seat(AskedModel(seat.model), seat.sample) for seat in panel.seats if seat.model is not None
    )


def _of_panel(panel: Panel, votes: Sequence[_Vote]) -> EvalResult:
    decided = panel.decide([vote.yes_or_no for vote in votes])
    outcome = {
        True: EvalOutcome.DETECTED,
        False: EvalOutcome.NOT_DETECTED,
        None: EvalOutcome.UNDETERMINED,
    }[decided]
    agreeing = [v.result for v in votes if v.result is not None and v.result.outcome is outcome]
    shown = f"{len(agreeing)} of {len(votes)} votes for {outcome.value} ({panel.rule})"
    if decided is None:
        shown = f"{len(votes)} votes decide nothing ({panel.rule})"
    if len(agreeing) == len(votes):
        rationale = f"{shown}: {agreeing[0].rationale}"
    else:
        rationale = "; ".join([shown, *map(str, votes)])
    return cut_short(
        EvalResult(
            outcome=outcome,
            # As sure as the least sure of those that decided it.
            confidence=min((result.confidence for result in agreeing), default=0.0),
            evidence=list(dict.fromkeys(line for result in agreeing for line in result.evidence)),
            rationale=rationale,
        )
    )
