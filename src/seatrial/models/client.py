"""Questions to language models: one question, one answer, from any provider or the embedded model.

Callers need no event loop and may be inside one: each question is asked in a thread of its own.
"""

from __future__ import annotations

import contextvars
import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from seatrial.errors import ModelConfigurationError, ModelProviderError
from seatrial.models import embedded, remote
from seatrial.models.answer import Question, Reply, StructuredAnswer, TextAnswer
from seatrial.models.choice import LOCAL, ModelChoice, choose_model
from seatrial.snapshot import JsonObject

__all__ = ["ask_structured", "ask_text"]

_T = TypeVar("_T")


def ask_structured(
    *,
    system: str,
    user: str,
    schema: JsonObject,
    purpose: str = "judge",
    provider: str | None = None,
    model: str | None = None,
    timeout_s: float = 60.0,
) -> StructuredAnswer:
    """Ask for a JSON object that fits `schema`.

    Args:
        system: What the model is to do.
        user: What it is to do it with.
        schema: A JSON schema of type "object".
        purpose: What the answer is for; decides which environment variables may name the model.
        provider: Who serves the model; "local" is the embedded one.
        model: Which model, as the provider calls it, or as "provider:name".
        timeout_s: Seconds until the answer must be there, above 0.

    Raises:
        ModelConfigurationError: If nothing, or nothing sensible, says which model to ask.
        ModelProviderError: If there is no answer in time, or one that does not fit.
        MissingExtraError: If the packages that the model needs are not installed.
    """
    question = Question(system=system, user=user, schema=schema, timeout_s=_seconds(timeout_s))
    choice, reply = _ask(question, purpose, provider, model)
    assert isinstance(reply.content, dict)
    missing = [name for name in _required(schema) if name not in reply.content]
    if missing:
        raise ModelProviderError(
            f"{choice.provider}:{choice.model} left out {', '.join(missing)} of its answer"
        )
    return StructuredAnswer(
        data=reply.content,
        model=choice.model,
        provider=choice.provider,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost_usd=reply.cost_usd,
    )


def ask_text(
    *,
    system: str,
    user: str,
    purpose: str = "judge",
    provider: str | None = None,
    model: str | None = None,
    timeout_s: float = 60.0,
) -> TextAnswer:
    """Ask for free text; arguments and errors as for `ask_structured`."""
    question = Question(system=system, user=user, schema=None, timeout_s=_seconds(timeout_s))
    choice, reply = _ask(question, purpose, provider, model)
    assert isinstance(reply.content, str)
    return TextAnswer(
        text=reply.content,
        model=choice.model,
        provider=choice.provider,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost_usd=reply.cost_usd,
    )


def _seconds(timeout_s: float) -> float:
    if not (timeout_s > 0 and math.isfinite(timeout_s)):
        raise ModelConfigurationError(f"timeout_s={timeout_s!r}: expected seconds, above 0")
    return timeout_s


def _required(schema: JsonObject) -> list[str]:
    required = schema.get("required")
    return [str(name) for name in required] if isinstance(required, list) else []


def _ask(
    question: Question, purpose: str, provider: str | None, model: str | None
) -> tuple[ModelChoice, Reply]:
    choice = choose_model(purpose=purpose, provider=provider, model=model)
    if choice.provider == LOCAL:
        return choice, _in_thread(lambda: embedded.ask(question))
    return choice, _in_thread(lambda: remote.ask(question, choice))


def _in_thread(work: Callable[[], _T]) -> _T:
    """Run `work` in a daemon thread, so that neither an event loop here nor Ctrl-C waits for it."""
    future: Future[_T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            future.set_exception(error)

    threading.Thread(target=run, name="seatrial-model", daemon=True).start()
    return future.result()
