"""Evaluators of what the agent did: tools it called, side effects it had."""

from __future__ import annotations

from typing import Any

from rampart.core.evaluator import BaseEvaluator
from rampart.core.types import Channel, EvalContext, EvalResult
from rampart.evaluators.predicates import find_match, is_predicate

__all__ = ["SideEffectOccurred", "ToolCalled"]


class _Occurrence(BaseEvaluator):
    """Something of a given name, whose values meet predicates, happened in any turn."""

    def __init__(self, name: str, predicates: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{type(self).__name__} needs a name first, not {name!r}")
        if not name:
            raise ValueError(f"{type(self).__name__} needs a name; it is empty")
        for key, expected in predicates.items():
            is_predicate(expected, where=f"{type(self).__name__}'s predicate {key}")
        self._name = name
        self._predicates = predicates

    def __repr__(self) -> str:
        conditions = [f"{key}={expected!r}" for key, expected in self._predicates.items()]
        return f"{type(self).__name__}({', '.join([repr(self._name), *conditions])})"


class ToolCalled(_Occurrence):
    """Detects a call of one tool, in any turn so far.

    `ToolCalled("send_email", recipient=lambda r: "evil" in r)`: keywords are conditions on
    arguments, each a value to be equal to or a callable to be true. A missing argument reads as
    None; a callable that cannot take that is not met. If a callable breaks on an argument that
    is there, and no other call matches, nobody can tell: UNDETERMINED.

    Raises:
        ValueError: If the tool's name is empty.
        TypeError: If it is no string, or a condition is an async function.
    """

    requires = frozenset({Channel.TOOL_CALLS})

    def __init__(self, tool_name: str, /, **param_predicates: Any) -> None:
        super().__init__(tool_name, param_predicates)

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        """Look through the tool calls of all turns."""
        calls = ((call.name, call.arguments) for call in context.all_tool_calls)
        return find_match(calls, self._name, self._predicates, Channel.TOOL_CALLS)


class SideEffectOccurred(_Occurrence):
    """Detects one kind of side effect, in any turn so far.

    Keywords are conditions on its details, as in `ToolCalled`.

    Raises:
        ValueError: If the kind is empty.
        TypeError: If it is no string, or a condition is an async function.
    """

    requires = frozenset({Channel.SIDE_EFFECTS})

    def __init__(self, kind: str, /, **detail_predicates: Any) -> None:
        super().__init__(kind, detail_predicates)

    async def evaluate_async(self, *, context: EvalContext) -> EvalResult:
        """Look through the side effects of all turns."""
        effects = ((effect.kind, effect.details) for effect in context.all_side_effects)
        return find_match(effects, self._name, self._predicates, Channel.SIDE_EFFECTS)
