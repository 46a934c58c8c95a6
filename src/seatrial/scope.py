"""The scope of the trial that is running: where its results, spans and remarks are gathered.

One context variable binds it. Code that a trial calls, in tasks, executors and threads that it
starts, finds its own trial here, however many run at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from seatrial.snapshot import Json, JsonObject

if TYPE_CHECKING:
    from concurrent.futures import Future

    from seatrial.capture import SpanCollector
    from seatrial.classify import TrialFacts
    from seatrial.trial import TrialKey

__all__ = [
    "LentScope",
    "TrialScope",
    "bind",
    "current_scope",
    "is_given_up",
    "lent_scope",
    "unbind",
]


@dataclass(slots=True, eq=False)
class TrialScope:
    """What is gathered while one trial runs; turned into a record when it ends.

    Attributes:
        key: The trial, or None for a plain test that was not expanded into trials.
        nodeid: pytest's name of the running item.
        judge_disabled: No judge may call a model in this session.
        use_cache: Whether an answer that a model gave to the same question before may be used.
        phase: "setup", "call" or "teardown".
        in_body: Whether the test itself is running now.
        results: Safety results so far, as JSON documents.
        judgements: What judges said so far, as JSON documents.
        model_calls: What models were asked by judges, drivers and the like, and what that took.
        spans: The collector that receives the trial's spans, once something traces.
        case: The row of the case that was run.
        output: What the harness answered.
        case_ran: Whether a case was run; a trial runs its case once.
        notes: Remarks for the record.
        started_at: Unix time, in seconds, at which set-up began.
        attempt: 1, or more when a rerun plugin repeats the trial.
        parts: How subtests raised, oldest first.
        results_recorded: How many of `results` the record holds; None before there is a record.
        calls_recorded: The same for `model_calls`.
    """

    key: TrialKey | None
    nodeid: str
    judge_disabled: bool = False
    use_cache: bool = True
    phase: str = "setup"
    in_body: bool = False
    results: list[JsonObject] = field(default_factory=list)
    judgements: list[JsonObject] = field(default_factory=list)
    model_calls: list[JsonObject] = field(default_factory=list)
    spans: SpanCollector | None = None
    case: Json = None
    output: Json = None
    case_ran: bool = False
    notes: list[str] = field(default_factory=list)
    started_at: float = 0.0
    attempt: int = 1
    parts: list[TrialFacts] = field(default_factory=list)
    results_recorded: int | None = None
    calls_recorded: int = 0


class LentScope:
    """A trial's scope, lent to code that may be given up on and would go on all the same.

    Until it is taken back, what it gets and sets is the trial's. Afterwards whoever still has it,
    or finds it in a context, works on a scope that nobody reads.

    Attributes:
        taken_back: Whether that has come.
    """

    __slots__ = ("_awaited", "_scope", "taken_back")

    _awaited: set[Future[Any]]
    _scope: TrialScope
    taken_back: bool

    def __init__(self, scope: TrialScope) -> None:
        """Lend `scope`."""
        object.__setattr__(self, "_awaited", set())
        object.__setattr__(self, "_scope", scope)
        object.__setattr__(self, "taken_back", False)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scope, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._scope, name, value)

    def as_scope(self) -> TrialScope:
        """The same object, as what it stands in for."""
        return cast("TrialScope", self)

    @contextmanager
    def cancelling(self, future: Future[Any]) -> Iterator[None]:
        """Have the future cancelled if the scope is taken back during the body, or is already."""
        self._awaited.add(future)
        try:
            if self.taken_back:
                future.cancel()
            yield
        finally:
            self._awaited.discard(future)

    def take_back(self) -> None:
        """Keep what was gathered so far, and nothing that comes; end what is waited for."""
        from seatrial.capture import SpanCollector  # loads no OpenTelemetry

        trial = self._scope
        spans = SpanCollector()
        spans.blind = "the trial is over"
        spans.close()
        late = TrialScope(trial.key, trial.nodeid, judge_disabled=True, phase="over", spans=spans)
        object.__setattr__(self, "_scope", late)
        object.__setattr__(self, "taken_back", True)
        for future in tuple(self._awaited):
            future.cancel()


_scope: ContextVar[TrialScope | None] = ContextVar("seatrial_scope", default=None)


def current_scope() -> TrialScope | None:
    """The scope of the trial that is calling, or None outside of any."""
    return _scope.get()


def lent_scope() -> LentScope | None:
    """The scope of the trial that is calling, if it was lent to the caller."""
    scope: object = _scope.get()
    return scope if isinstance(scope, LentScope) else None


def is_given_up() -> bool:
    """Whether the caller belongs to a trial that was given up on while its code went on."""
    lent = lent_scope()
    return lent is not None and lent.taken_back


def bind(scope: TrialScope) -> Token[TrialScope | None]:
    """Make `scope` the current one, until `unbind` gets the token back."""
    return _scope.set(scope)


def unbind(token: Token[TrialScope | None]) -> None:
    """Undo one `bind`."""
    _scope.reset(token)
