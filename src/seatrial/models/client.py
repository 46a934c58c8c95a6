"""Questions to language models: one question, one answer, from any provider or the embedded model.

What is to be awaited may be awaited on any event loop. The twins that wait may be called anywhere,
also inside a running loop: the question itself is asked on a loop, or in a thread, of its own.
"""

from __future__ import annotations

import asyncio
import contextvars
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from seatrial.capture import unobserved
from seatrial.errors import MissingExtraError, ModelConfigurationError, ModelError
from seatrial.models import embedded
from seatrial.models.answer import Message, Question, Reply, StructuredAnswer, TextAnswer, Usage
from seatrial.models.background import submit, waited_for
from seatrial.models.choice import LOCAL, ModelChoice, choose_model
from seatrial.models.failure import FailedAttempt
from seatrial.models.json_schema import fault_in
from seatrial.models.settings import RequestSettings
from seatrial.models.spending import CallNote, note_call
from seatrial.snapshot import JsonObject

if TYPE_CHECKING:
    from seatrial.models.cached import StoredAnswer

__all__ = ["ask_structured", "ask_structured_async", "ask_text", "ask_text_async"]

_T = TypeVar("_T")


async def ask_structured_async(
    *,
    system: str,
    user: str,
    schema: JsonObject,
    history: Sequence[Message] = (),
    purpose: str = "judge",
    provider: str | None = None,
    model: str | ModelChoice | None = None,
    settings: RequestSettings | None = None,
    timeout_s: float = 60.0,
    stored: bool = False,
    sample: int = 1,
) -> StructuredAnswer:
    """Ask for a JSON object that fits `schema`.

    Args:
        system: What the model is to do.
        user: What it is to do it with.
        schema: A JSON schema of type "object".
        history: What was said before, oldest first.
        purpose: What the answer is for: "judge", "driver", "generator", "simulator". Decides which
            environment variables may name the model, and what its cost counts as.
        provider: Who serves the model; "local" is the embedded one.
        model: Which model, as the provider calls it, or as "provider:name".
        settings: How it is to answer; what the model's own choice sets comes first.
        timeout_s: Seconds that one attempt to get an answer may take, above 0.
        stored: Whether an answer that was given to the same question before will do.
        sample: Which of several answers to the same question this is, from 1.

    Raises:
        ModelConfigurationError: If nothing, or nothing sensible, says which model to ask.
        ModelProviderError: If there is no answer in time, or none that fits.
        MissingExtraError: If the packages that the model needs are not installed.
    """
    asked = _asked(
        system, user, schema, history, purpose, provider, model, settings, timeout_s, stored, sample
    )
    return asked.structured(await _answered(asked))


async def ask_text_async(
    *,
    system: str,
    user: str,
    history: Sequence[Message] = (),
    purpose: str = "judge",
    provider: str | None = None,
    model: str | ModelChoice | None = None,
    settings: RequestSettings | None = None,
    timeout_s: float = 60.0,
) -> TextAnswer:
    """Ask for free text; arguments and errors as for `ask_structured_async`."""
    asked = _asked(
        system, user, None, history, purpose, provider, model, settings, timeout_s, False, 1
    )
    return asked.text(await _answered(asked))


ask_structured = waited_for(ask_structured_async)
"""`ask_structured_async` for code that does not await."""

ask_text = waited_for(ask_text_async)
"""`ask_text_async` for code that does not await."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, whom it goes to, and what for."""

    question: Question
    choice: ModelChoice
    purpose: str
    stored: StoredAnswer | None

    def structured(self, reply: Reply) -> StructuredAnswer:
        assert isinstance(reply.content, dict)
        return StructuredAnswer(
            data=reply.content,
            model=self.choice.model,
            provider=self.choice.provider,
            input_tokens=reply.usage.input_tokens,
            output_tokens=reply.usage.output_tokens,
            cost_usd=reply.usage.cost_usd,
            attempts=reply.attempts,
            cached=reply.attempts == 0,
        )

    def text(self, reply: Reply) -> TextAnswer:
        assert isinstance(reply.content, str)
        return TextAnswer(
            text=reply.content,
            model=self.choice.model,
            provider=self.choice.provider,
            input_tokens=reply.usage.input_tokens,
            output_tokens=reply.usage.output_tokens,
            cost_usd=reply.usage.cost_usd,
            attempts=reply.attempts,
        )


def _asked(
    system: str,
    user: str,
    schema: JsonObject | None,
    history: Sequence[Message],
    purpose: str,
    provider: str | None,
    model: str | ModelChoice | None,
    settings: RequestSettings | None,
    timeout_s: float,
    stored: bool,
    sample: int,
) -> _Asked:
    if not (timeout_s > 0 and math.isfinite(timeout_s)):
        raise ModelConfigurationError(f"timeout_s={timeout_s!r}: expected seconds, above 0")
    choice = choose_model(purpose=purpose, provider=provider, model=model)
    question = Question(
        system=system,
        user=user,
        schema=schema,
        timeout_s=timeout_s,
        history=tuple(history),
        settings=choice.settings.over(settings or RequestSettings()),
    )
    return _Asked(question, choice, purpose, _place(question, choice, sample) if stored else None)


def _place(question: Question, choice: ModelChoice, sample: int) -> StoredAnswer | None:
    from seatrial.models.cached import StoredAnswer

    return StoredAnswer.of(question, choice, sample)


async def _answered(asked: _Asked) -> Reply:
    started = time.perf_counter()
    known = _known(asked)
    if known is not None:
        return known
    note = CallNote(asked.choice, asked.purpose)
    try:
        reply = await asyncio.wrap_future(_begun(asked))
    except FailedAttempt as failed:
        duration_s = time.perf_counter() - started
        kind = failed.kind or "configuration"
        note.end(failed.usage, failed.attempts, duration_s, failed=kind)
        raise failed.error from None
    note.end(reply.usage, reply.attempts, time.perf_counter() - started)
    if asked.stored is not None and isinstance(reply.content, dict):
        asked.stored.write(reply.content)
    return reply


def _known(asked: _Asked) -> Reply | None:
    if asked.stored is None:
        return None
    data = asked.stored.read()
    if data is None or asked.question.schema is None or fault_in(data, asked.question.schema):
        return None
    note_call(asked.choice, asked.purpose, Usage(), attempts=0, duration_s=0.0)
    return Reply(content=data, usage=Usage(), attempts=0)


def _begun(asked: _Asked) -> Future[Reply]:
    question, choice = asked.question, asked.choice
    with unobserved():  # what a judge or a driver asks is not the agent's doing
        if choice.provider == LOCAL:
            return _in_thread(lambda: _ask_embedded(question))
        from seatrial.models.retries import ask_until_answered

        return submit(lambda: ask_until_answered(question, choice))


def _ask_embedded(question: Question) -> Reply:
    try:
        return embedded.ask(question)
    except (ModelError, MissingExtraError) as error:
        raise FailedAttempt(error) from error


def _in_thread(work: Callable[[], _T]) -> Future[_T]:
    """Run `work` in a daemon thread, so that neither an event loop nor the process's end waits for it."""
    future: Future[_T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            result = context.run(work)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
        else:
            if future.set_running_or_notify_cancel():
                future.set_result(result)

    threading.Thread(target=run, name="seatrial-model", daemon=True).start()
    return future
