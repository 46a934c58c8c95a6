"""The judge, for criteria that no assertion can check.

A judge that cannot answer says so in its result (`error=True`); it never raises, and is never
mistaken for an agent that failed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from kensa.errors import KensaEvalError
from seatrial.capture import unobserved
from seatrial.scope import current_scope
from seatrial.snapshot import JsonObject, snapshot
from seatrial.text import one_line

if TYPE_CHECKING:
    from seatrial.panel import Panel

__all__ = ["JudgeProvider", "JudgeResult", "judge", "judge_async", "set_judge_provider"]

_PASS_WORDS = ("1", "true", "pass", "passed", "yes")
_FAIL_WORDS = ("0", "false", "fail", "failed", "no")


@dataclass(frozen=True)
class JudgeResult:
    """What a judge said.

    Attributes:
        passed: Whether the criterion is met; False whenever `error`.
        reasoning: Why, for a reader.
        evidence: Quotations that the reasoning rests on.
        provider: Who was asked; "disabled" if nobody was, "env" if `KENSA_JUDGE_RESULT` decided.
        model: The model that answered.
        metadata: More about the answer, copied as JSON.
        error: The judge could not tell, and `reasoning` says why.

    Raises:
        TypeError: If a field is of another type.
        ValueError: If an error claims to have passed.
    """

    passed: bool
    reasoning: str
    evidence: list[str] = field(default_factory=list)
    provider: str | None = None
    model: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    error: bool = False

    def __post_init__(self) -> None:
        _check("passed", self.passed, bool)
        _check("reasoning", self.reasoning, str)
        _check("error", self.error, bool)
        _check("evidence", self.evidence, (list, tuple))
        for quotation in self.evidence:
            _check("each item of evidence", quotation, str)
        _check("provider", self.provider, (str, type(None)))
        _check("model", self.model, (str, type(None)))
        _check("metadata", self.metadata, dict)
        if self.error and self.passed:
            raise ValueError("a judge's result with error=True cannot have passed=True")
        object.__setattr__(self, "evidence", list(self.evidence))
        object.__setattr__(self, "metadata", snapshot(self.metadata))

    def require(self) -> JudgeResult:
        """The result itself, if the criterion is met.

        Raises:
            AssertionError: If it is not.
            KensaEvalError: If the judge could not tell; its category is "judge".
        """
        if self.error:
            kind = str(self.metadata.get("error_kind", "execution"))
            raise KensaEvalError(
                self.reasoning, category="judge", kind=kind, evidence=self.to_dict()
            )
        if not self.passed:
            raise AssertionError(self.reasoning)
        return self

    def to_dict(self) -> JsonObject:
        """The result as a JSON document, a copy."""
        return {
            "passed": self.passed,
            "reasoning": snapshot(self.reasoning),
            "evidence": snapshot(self.evidence),
            "provider": self.provider,
            "model": self.model,
            "metadata": snapshot(self.metadata),
            "error": self.error,
        }


def _check(name: str, value: object, expected: type | tuple[type, ...]) -> None:
    if not isinstance(value, expected):
        kinds = expected if isinstance(expected, tuple) else (expected,)
        wanted = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise TypeError(f"{name} of a judge's result must be {wanted}, not {type(value).__name__}")


class JudgeProvider(Protocol):
    """A judge of one's own, for `set_judge_provider`."""

    def judge(
        self,
        *,
        output: Any,
        criteria: str,
        input: Any = None,  # noqa: A002 - the documented name
        trace: Any = None,
        context: Any = None,
    ) -> JudgeResult:
        """Say whether the output meets the criteria; an exception becomes an error result."""


_provider: JudgeProvider | None = None


def set_judge_provider(provider: JudgeProvider | None) -> None:
    """Let `provider` answer for every judge in this process; None goes back to the environment.

    Raises:
        TypeError: If it has no `judge` method.
    """
    global _provider  # noqa: PLW0603 - documented as the process's judge
    if provider is not None and not callable(getattr(provider, "judge", None)):
        raise TypeError(
            f"a judge provider needs a method `judge`; {type(provider).__name__} has none"
        )
    _provider = provider


def judge(
    output: Any,
    criteria: str,
    *,
    input: Any = None,  # noqa: A002 - the documented name
    trace: Any = None,
    context: Any = None,
    panel: Panel | None = None,
) -> JudgeResult:
    """Ask whether an output meets the criteria. In a trial, the answer is part of its record.

    Asked is, in this order: nobody under `--kensa-no-judge` (the result passes, and the trial counts
    as not judged); the provider of `set_judge_provider`; `KENSA_JUDGE_RESULT`; the panel; the model
    that `KENSA_JUDGE_PROVIDER` and `KENSA_JUDGE_MODEL` name, or else `KENSA_LLM_PROVIDER` and
    `KENSA_LLM_MODEL` (see `seatrial.models`). The same question to the same model is asked once:
    later its stored answer is given, marked as `cached`, unless `--seatrial-no-cache` says otherwise.

    Waits for the answer, and holds no other trial up meanwhile. `judge_async` is awaited.

    Args:
        output: What the agent answered.
        criteria: What the answer must be, in words.
        input: What the agent was asked.
        trace: What the agent did, such as `kensa_trace`.
        context: What else the judge should know.
        panel: Several models or several answers of one, and the rule that decides.
    """
    question = _question(output, criteria, input, trace, context)
    with unobserved():
        result = _answer_at_once(question)
        if result is None:
            from seatrial.models.background import waited_for

            result = waited_for(_ask_models_async)(question, panel)
    return _recorded(result)


async def judge_async(
    output: Any,
    criteria: str,
    *,
    input: Any = None,  # noqa: A002 - the documented name
    trace: Any = None,
    context: Any = None,
    panel: Panel | None = None,
) -> JudgeResult:
    """`judge`, awaited. A provider of `set_judge_provider` works in a thread meanwhile."""
    question = _question(output, criteria, input, trace, context)
    with unobserved():
        if _provider is None:
            result = _answer_at_once(question)
        else:
            result = await asyncio.to_thread(_answer_at_once, question)
        if result is None:
            result = await _ask_models_async(question, panel)
    return _recorded(result)


def _question(
    output: object, criteria: str, asked: object, trace: object, context: object
) -> dict[str, Any]:
    return {
        "output": output,
        "criteria": criteria,
        "input": asked,
        "trace": trace,
        "context": context,
    }


def _recorded(result: JudgeResult) -> JudgeResult:
    scope = current_scope()
    if scope is not None:
        scope.judgements.append(result.to_dict())
    return result


def _answer_at_once(question: dict[str, Any]) -> JudgeResult | None:
    """The answer where no model is to be asked."""
    scope = current_scope()
    if scope is not None and scope.judge_disabled:
        return JudgeResult(
            passed=True,
            reasoning="not judged: judges are disabled in this session",
            provider="disabled",
            metadata={"disabled": True},
        )
    if _provider is not None:
        custom = _provider
        return _guarded(lambda: custom.judge(**question), type(custom).__name__)
    word = os.environ.get("KENSA_JUDGE_RESULT", "").strip()
    return _forced(word) if word else None


def _guarded(answer: Callable[[], object], provider: str) -> JudgeResult:
    try:
        result = answer()
    except Exception as error:  # noqa: BLE001 - foreign code: whatever it raises is a judge that cannot tell
        return _failed(_broke(error), provider, None, "execution")
    if isinstance(result, JudgeResult):
        return result
    reasoning = f"the judge must return a JudgeResult, not {type(result).__name__}"
    return _failed(reasoning, provider, None, "contract")


def _broke(error: Exception) -> str:
    return f"the judge could not answer: {one_line(_told(error), limit=1000)}"


def _told(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - foreign code: a broken __str__ must not hide that the judge failed
        return type(error).__name__


def _failed(reasoning: str, provider: str, model: str | None, kind: str) -> JudgeResult:
    return JudgeResult(
        passed=False,
        reasoning=reasoning,
        provider=provider,
        model=model,
        metadata={"error_kind": kind},
        error=True,
    )


def _forced(word: str) -> JudgeResult:
    source = "KENSA_JUDGE_RESULT"
    known = word.casefold()
    if known in (*_PASS_WORDS, *_FAIL_WORDS):
        return JudgeResult(
            passed=known in _PASS_WORDS,
            reasoning=f"{source} is {one_line(word)}",
            provider="env",
            model=source,
        )
    if known == "error":
        return _failed(f"{source} is {one_line(word)}", "env", source, "execution")
    words = ", ".join((*_PASS_WORDS, *_FAIL_WORDS, "error"))
    reasoning = f"{source} is {one_line(word, limit=80)!r}, which is none of: {words}"
    return _failed(reasoning, "env", source, "configuration")


async def _ask_models_async(question: dict[str, Any], panel: Panel | None) -> JudgeResult:
    from kensa.model_judge import ask_models_async

    try:
        return await ask_models_async(question, panel)
    except Exception as error:  # noqa: BLE001 - a judge that cannot tell, whatever broke
        return _failed(_broke(error), "error", None, "execution")
