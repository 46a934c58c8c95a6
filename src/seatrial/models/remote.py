"""One request to a provider, through pydantic-ai; it is imported with the first one."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast

from seatrial.errors import MissingExtraError, ModelConfigurationError, ModelProviderError
from seatrial.models.answer import Question, Usage, parse_object
from seatrial.models.choice import ModelChoice
from seatrial.models.connection import BodyTooLargeError, connect
from seatrial.models.failure import FailedAttempt
from seatrial.models.json_schema import fault_in
from seatrial.models.secrets import without_keys
from seatrial.snapshot import JsonObject, snapshot

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import ModelRequestParameters

__all__ = ["attempt"]

_OUTPUT = "answer"


@dataclass(frozen=True, slots=True)
class _Failure:
    """What an SDK's exception amounts to."""

    kind: str
    status: int | None = None
    retry_after_s: float | None = None


async def attempt(question: Question, choice: ModelChoice) -> tuple[JsonObject | str, Usage]:
    """Ask once. To be called on the background loop.

    Returns:
        An object that fits the question's schema, or text that is not empty; and what it took.

    Raises:
        FailedAttempt: If there is none.
    """
    try:
        import pydantic_ai  # noqa: F401
    except ImportError:
        extra = MissingExtraError("llm", f"the model {choice.name}")
        raise FailedAttempt(extra) from None
    try:
        async with asyncio.timeout(question.timeout_s):
            response = await _request(question, choice)
    except Exception as error:  # noqa: BLE001 - whatever an SDK raises becomes one of our errors
        # Not chained: a provider's error may quote the request, and with it the key.
        raise _translated(error, question, choice) from None
    usage = Usage(response.usage.input_tokens, response.usage.output_tokens, _cost_usd(response))
    try:
        return _content(response, question, choice), usage
    except ModelProviderError as error:
        raise FailedAttempt(error, usage=usage) from None


async def _request(question: Question, choice: ModelChoice) -> ModelResponse:
    from pydantic_ai.direct import model_request

    with warnings.catch_warnings():
        # Settings that a model does not take are left out, with a warning to nobody.
        warnings.simplefilter("ignore")
        return await model_request(
            connect(choice),
            _messages(question),
            model_settings=cast("Any", question.settings.given()),
            model_request_parameters=_parameters(question),
            instrument=False,
        )


def _messages(question: Question) -> list[ModelMessage]:
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        UserPromptPart,
    )

    messages: list[ModelMessage] = [ModelRequest([SystemPromptPart(question.system)])]
    for message in question.history:
        if message.role == "user":
            messages.append(ModelRequest([UserPromptPart(message.text)]))
        else:
            messages.append(ModelResponse([TextPart(message.text)]))
    messages.append(ModelRequest([UserPromptPart(question.user)]))
    return messages


def _parameters(question: Question) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    if question.schema is None:
        return ModelRequestParameters()
    tool = ToolDefinition(
        name=_OUTPUT,
        description="Give your answer.",
        parameters_json_schema=question.schema,
        kind="output",
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


def _content(response: ModelResponse, question: Question, choice: ModelChoice) -> JsonObject | str:
    """What the response says, with the keys that it repeats left out."""
    text = "".join(part.content for part in response.parts if part.part_kind == "text")
    calls = [part for part in response.parts if part.part_kind == "tool-call"]
    refused = _refusal(response)
    if refused is not None:
        shown = _told(refused, choice)
        raise ModelProviderError(f"{choice.name} refused to answer: {shown}", kind="refused")
    if question.schema is None:
        if not text.strip():
            raise ModelProviderError(f"{choice.name} answered with nothing", kind="empty")
        return str(without_keys(text, key=choice.api_key, url=choice.endpoint))
    if len(calls) > 1:
        raise ModelProviderError(f"{choice.name} gave {len(calls)} answers", kind="unusable")
    if calls and calls[0].tool_name != _OUTPUT:
        told = _told(repr(calls[0].tool_name), choice)
        raise ModelProviderError(f"{choice.name} called {told}, not answer", kind="unusable")
    given = calls[0].args if calls else text
    if isinstance(given, dict):
        data: JsonObject = cast("JsonObject", snapshot(given))
    else:
        cleaned = str(without_keys(given or "", key=choice.api_key, url=choice.endpoint))
        data = parse_object(cleaned, model=choice.name)
    fault = fault_in(data, question.schema)
    if fault is not None:
        fault = _told(fault, choice)
        raise ModelProviderError(f"{choice.name} cannot be understood: {fault}", kind="unusable")
    return cast("JsonObject", without_keys(data, key=choice.api_key, url=choice.endpoint))


def _refusal(response: ModelResponse) -> str | None:
    details = getattr(response, "provider_details", None) or {}
    if details.get("refusal"):
        return str(details["refusal"])
    if getattr(response, "finish_reason", None) == "content_filter":
        return str(details.get("finish_reason") or "its content filter stepped in")
    return None


def _cost_usd(response: ModelResponse) -> float | None:
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError, ImportError):
        return None


def _translated(error: Exception, question: Question, choice: ModelChoice) -> FailedAttempt:
    from pydantic_ai.exceptions import UserError

    told = _told(f"{type(error).__name__}: {error}", choice)
    if isinstance(error, ModelConfigurationError):
        return FailedAttempt(error)
    if isinstance(error, TimeoutError):
        reason = f"{choice.name} gave no answer in {question.timeout_s:g} s"
        return FailedAttempt(ModelProviderError(reason, kind="timeout"))
    if isinstance(error, ImportError):
        missing = f"the model {choice.name} ({_told(str(error), choice)})"
        return FailedAttempt(MissingExtraError("llm", missing))
    if isinstance(error, UserError):
        told = _told(str(error), choice)
        return FailedAttempt(ModelConfigurationError(f"{choice.name} cannot be asked: {told}"))
    failure = _failure(error)
    return FailedAttempt(
        ModelProviderError(
            f"{choice.name} failed: {told}", kind=failure.kind, status=failure.status
        ),
        retry_after_s=failure.retry_after_s,
    )


def _failure(error: Exception) -> _Failure:
    """What a chain of exceptions of pydantic-ai, an SDK and its HTTP client comes from."""
    chain = list(_chain(error))
    if any(isinstance(cause, BodyTooLargeError) for cause in chain):
        return _Failure("unusable")
    for cause in chain:
        status = getattr(cause, "status_code", None)
        if isinstance(status, int):
            kind = "throttled" if status == 429 else "status"
            return _Failure(kind, status, _retry_after_s(chain))
    is_lost = any(
        isinstance(cause, OSError) or any(kind.__name__ in _LOST for kind in type(cause).__mro__)
        for cause in chain
    )
    return _Failure("connection" if is_lost else "unusable")


_LOST = ("APIConnectionError", "TransportError", "ModelConnectionError")


def _chain(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(16):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _retry_after_s(chain: list[BaseException]) -> float | None:
    for cause in chain:
        headers = getattr(getattr(cause, "response", None), "headers", None)
        if headers is None:
            continue
        for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
            seconds = _seconds(headers.get(name))
            if seconds is not None:
                return max(0.0, seconds * unit_s)
    return None


def _seconds(text: str | None) -> float | None:
    """A number, or the time until an HTTP date (RFC 9110, section 10.2.3)."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None


def _told(text: str, choice: ModelChoice) -> str:
    told = str(without_keys(text, key=choice.api_key, url=choice.endpoint))
    return told if len(told) <= 2_000 else told[:2_000] + "…"
