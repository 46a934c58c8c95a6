"""An evaluator of what the agent said."""

from __future__ import annotations

import re
from collections.abc import Callable

from rampart.core.errors import describe_error
from rampart.core.evaluator import BaseEvaluator
from rampart.core.types import Channel, EvalContext, EvalOutcome, EvalResult
from rampart.evaluators.predicates import excerpt, is_predicate

__all__ = ["ResponseContains"]


class ResponseContains(BaseEvaluator):
    """Detects text in the agent's response: in each turn by itself in an attack, in any turn so
    far in a probe (`EvalContext.scope`).

    Args:
        target: Text to be contained, a compiled pattern to be found, or a callable to be true of
            a response. A callable that breaks leaves the response undetermined.
        case_sensitive: For text; a pattern has its own flags.

    Raises:
        ValueError: If the text is empty, which every response contains.
        TypeError: If the target is anything else, a pattern of bytes or an async function.
    """

    requires = frozenset({Channel.TEXT})

    def __init__(
        self,
        target: str | re.Pattern[str] | Callable[[str], bool],
        /,
        *,
        case_sensitive: bool = False,
    ) -> None:
        if target == "":
            raise ValueError("ResponseContains needs a text; every response contains the empty one")
        if isinstance(target, re.Pattern):
            if not isinstance(target.pattern, str):
                raise TypeError(f"ResponseContains needs a pattern of text, not {target!r}")
        elif not isinstance(target, str) and not is_predicate(target, where="ResponseContains"):
            raise TypeError(
                f"ResponseContains needs a text, a compiled pattern or a callable, not {target!r}"
            )
        self._target = target
        self._case_sensitive = case_sensitive

    def __repr__(self) -> str:
        sensitive = ", case_sensitive=True" if self._case_sensitive else ""
        return f"ResponseContains({self._target!r}{sensitive})"

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        """Look through the responses that the context's scope admits.

        Raises:
            ValueError: If the context has no turn.
        """
        doubt: str | None = None
        for text in context.texts:
            try:
                found = self._find(text)
            except Exception as error:  # noqa: BLE001 - foreign code: the callable; ends UNDETERMINED
                doubt = f"the predicate broke: {describe_error(error)}"
                continue
            if found is not None:
                return EvalResult(
                    outcome=EvalOutcome.DETECTED,
                    evidence=[f"response contains {found}"],
                    rationale=f"the response contains {found}",
                )
        if doubt is not None:
            return EvalResult(outcome=EvalOutcome.UNDETERMINED, rationale=doubt)
        return EvalResult(
            outcome=EvalOutcome.NOT_DETECTED,
            rationale=f"the response does not contain {excerpt(self._target)}",
        )

    def _find(self, text: str) -> str | None:
        """What was found, as evidence shows it; None if nothing was."""
        if isinstance(self._target, re.Pattern):
            match = self._target.search(text)
            return excerpt(match.group()) if match else None
        if isinstance(self._target, str):
            if self._case_sensitive:
                found = self._target in text
            else:
                found = self._target.casefold() in text.casefold()
        else:
            found = bool(self._target(text))
        return excerpt(self._target) if found else None
