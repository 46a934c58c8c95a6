"""Cases: one input for the agent, and the one way in which a trial runs it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from kensa.errors import KensaCaseError
from kensa.messages import KensaMessage, checked_messages
from seatrial.capture import flush_trace, root_span
from seatrial.errors import NotJsonError
from seatrial.scope import TrialScope, current_scope
from seatrial.snapshot import snapshot, strict_json

__all__ = ["KensaCase", "KensaCaseError", "kensa_case"]


class _Unset:
    """Stands for an input that was not given; None is an input."""


_UNSET = _Unset()


def kensa_case(
    *,
    id: str,  # noqa: A002 - the documented name
    input: Any = _UNSET,  # noqa: A002 - the documented name
    messages: list[KensaMessage] | None = None,
    **fields: Any,
) -> KensaCase:
    """One input for the agent, for `pytest.mark.parametrize("case", [...])`.

    Args:
        id: Names the case in test ids and reports; text that is not empty.
        input: What the agent is given; anything that can be copied.
        messages: Instead of an input, a conversation so far.
        fields: More about the case, such as what is expected. Without input and messages they
            are the input: a single field's value, or all of them as a dict.

    Raises:
        KensaCaseError: If the id is not such text, input and messages are both given, the
            messages are no conversation, or a value cannot be copied.
    """
    if not isinstance(id, str) or not id:
        raise KensaCaseError(f"id of a case: expected text that is not empty, not {id!r:.80}")
    row: dict[str, Any] = {"id": id, **fields}
    if messages is not None:
        if input is not _UNSET:
            raise KensaCaseError(f"case {id!r}: give input or messages, not both")
        row["messages"] = checked_messages(messages)
    elif input is not _UNSET:
        row["input"] = input
    return KensaCase(id=id, _row=_copied(row, id), _conversation=messages is not None)


@dataclass(frozen=True, repr=False)
class KensaCase:
    """A case; made by `kensa_case`.

    Trials share the case but none of its values: each reading of `input`, `row` or `messages`
    gives a copy of its own, so whatever a trial does to one reaches no other trial.
    """

    id: str
    _row: dict[str, Any]
    _conversation: bool = False

    def __repr__(self) -> str:
        return self.id

    @property
    def row(self) -> Mapping[str, Any]:
        """A read-only copy of all that the case was made of: id, fields, then its input."""
        return MappingProxyType(_copied(self._row, self.id))

    @property
    def input(self) -> Any:
        """A copy of the input, else the messages, else the only field, else all fields."""
        row = _copied(self._row, self.id)
        if "input" in row:
            return row["input"]
        if self._conversation:
            return row["messages"]
        del row["id"]
        return next(iter(row.values())) if len(row) == 1 else row

    @property
    def messages(self) -> list[KensaMessage]:
        """A copy of the conversation.

        Raises:
            KensaCaseError: If the case was made without one.
        """
        if not self._conversation:
            raise KensaCaseError(f"case {self.id!r} was made without messages")
        return cast("list[KensaMessage]", _copied(self._row, self.id)["messages"])

    def run(self, kensa_run: Callable[[KensaCase], Any]) -> Any:
        """Let the agent answer the case, and record the trace and a copy of the output.

        An eval's trial runs its case once. Elsewhere, in an unmarked test or a script, the harness
        is called and its output checked; nothing is recorded.

        Args:
            kensa_run: The harness. If its answer is awaitable, so is what this returns; it may
                be awaited in any task.

        Returns:
            What the harness answered, the same object.

        Raises:
            KensaCaseError: If the trial has run its case already, or the answer is not JSON.
            Exception: What the harness raises passes through; the trace is kept.
        """
        if not callable(kensa_run):
            raise KensaCaseError(
                f"case {self.id!r}: the harness must be callable, not {type(kensa_run).__name__}"
            )
        scope = current_scope()
        if scope is None or scope.key is None or scope.key.face != "kensa":
            return self._call(kensa_run)
        if scope.case_ran:
            raise KensaCaseError(
                f"case {self.id!r}: a trial runs its case once, and {scope.nodeid} has done so"
            )
        scope.case_ran = True
        scope.case = snapshot(self._row)
        return _Run(self, scope).start(kensa_run)

    def _call(self, kensa_run: Callable[[KensaCase], Any]) -> Any:
        output = kensa_run(self)
        if inspect.isawaitable(output):
            return self._await(output)
        _json_copy(output, self.id)
        return output

    async def _await(self, answer: Awaitable[Any]) -> Any:
        output = await answer
        _json_copy(output, self.id)
        return output


class _Run:
    """One run of a case in a trial, under a root span of its own."""

    def __init__(self, case: KensaCase, scope: TrialScope) -> None:
        assert scope.key is not None
        self._case = case
        self._scope = scope
        self._span = root_span(
            scope,
            "kensa.pytest.trial",
            {
                "kensa.case_id": case.id,
                "kensa.trial_index": scope.key.index,
                "kensa.configured_trials": scope.key.total,
                "kensa.pytest_nodeid": scope.nodeid,
            },
        )

    def start(self, kensa_run: Callable[[KensaCase], Any]) -> Any:
        waiting = False
        try:
            with self._span.current():
                output = kensa_run(self._case)
            waiting = inspect.isawaitable(output)
        finally:
            if not waiting:
                self._collect()
        if waiting:
            return self._await(output)
        self._keep(output)
        return output

    async def _await(self, answer: Awaitable[Any]) -> Any:
        # Entered anew: this may be another task, with a context of its own.
        try:
            with self._span.current():
                output = await answer
        finally:
            self._collect()
        self._keep(output)
        return output

    def _collect(self) -> None:
        self._span.end()
        flush_trace(self._scope)

    def _keep(self, output: object) -> None:
        self._scope.output = _json_copy(output, self._case.id)


def _json_copy(output: object, case_id: str) -> Any:
    try:
        return strict_json(output, what="the harness's output")
    except NotJsonError as error:
        raise KensaCaseError(f"case {case_id!r}: {error}") from error


def _copied(row: dict[str, Any], case_id: str) -> dict[str, Any]:
    try:
        return deepcopy(row)
    except Exception as error:
        raise KensaCaseError(
            f"case {case_id!r}: its values must be such that each trial can have a copy, but "
            f"copying failed with {type(error).__name__}: {error}"
        ) from error
