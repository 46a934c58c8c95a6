"""One request to a provider, through pydantic-ai; it is imported with the first one."""

from __future__ import annotations

import asyncio
import time
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
from seatrial.models.unheard import unheard_warnings
from seatrial.snapshot import Json, JsonObject, snapshot

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

__all__ = ["attempt"]

_OUTPUT = "answer"

_UNKNOWN = Usage(0, 0, None)
"""What a request took that was sent and came to nothing."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """What an SDK's exception amounts to."""

    kind: str
    status: int | None = None
    retry_after_s: float | None = None
    is_unsent: bool = False


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
    asked = await _asked(question, choice)
    if isinstance(asked, FailedAttempt):
        raise asked
    usage = _usage(asked)
    content = _content(asked, question, choice)
    if isinstance(content, ModelProviderError):
        raise FailedAttempt(content, usage=usage)
    return content, usage


async def _asked(question: Question, choice: ModelChoice) -> ModelResponse | FailedAttempt:
    # Returned, since what is raised here would have the SDK's error in its chain, and with it the
    # request and the key.
    try:
        model = connect(choice)  # may import for seconds, which is not the provider's time
        async with asyncio.timeout(question.timeout_s):
            return await _request(question, model)
    except Exception as error:  # noqa: BLE001 - whatever an SDK raises becomes one of our errors
        return _translated(error, question, choice)


async def _request(question: Question, model: Model) -> ModelResponse:
    from pydantic_ai.direct import model_request

    with unheard_warnings():
        return await model_request(
            model,
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

    messages: list[ModelMessage] = []
    if question.system:
        messages.append(ModelRequest([SystemPromptPart(question.system)]))
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


def _content(
    response: ModelResponse, question: Question, choice: ModelChoice
) -> JsonObject | str | ModelProviderError:
    """What the response says, with the keys that it repeats left out; or what is wrong with it."""
    try:
        refused = _refusal(response)
        if refused is not None:
            told = _told(refused, choice)
            return ModelProviderError(f"{choice.name} refused to answer: {told}", kind="refused")
        if question.schema is None:
            return _text(response, choice)
        return _object(response, question.schema, choice)
    except ModelProviderError as error:
        return error
    except RecursionError:
        return ModelProviderError(f"{choice.name} nested its answer too deep", kind="unusable")


def _text(response: ModelResponse, choice: ModelChoice) -> str:
    text = "".join(part.content for part in response.parts if part.part_kind == "text")
    if not text.strip():
        raise ModelProviderError(f"{choice.name} answered with nothing", kind="empty")
    return str(_without_keys(text, choice))


def _object(response: ModelResponse, schema: JsonObject, choice: ModelChoice) -> JsonObject:
    calls = [part for part in response.parts if part.part_kind == "tool-call"]
    if len(calls) > 1:
        raise ModelProviderError(f"{choice.name} gave {len(calls)} answers", kind="unusable")
    if calls and calls[0].tool_name != _OUTPUT:
        told = _told(repr(calls[0].tool_name), choice)
        raise ModelProviderError(f"{choice.name} called {told}, not answer", kind="unusable")
    text = "".join(part.content for part in response.parts if part.part_kind == "text")
    given = calls[0].args if calls else text
    # Before anything is shown of it, and so perhaps cut off in the middle of a key.
    if isinstance(given, dict):
        data = cast("JsonObject", _without_keys(snapshot(given), choice))
    else:
        parsed = parse_object(str(_without_keys(given or "", choice)), model=choice.name)
        data = cast("JsonObject", _without_keys(parsed, choice))
    fault = fault_in(data, schema)
    if fault is not None:
        raise ModelProviderError(f"{choice.name} cannot be understood: {fault}", kind="unusable")
    return data


def _refusal(response: ModelResponse) -> str | None:
    details = getattr(response, "provider_details", None) or {}
    if details.get("refusal"):
        return str(details["refusal"])
    if getattr(response, "finish_reason", None) == "content_filter":
        return str(details.get("finish_reason") or "its content filter stepped in")
    return None


def _usage(response: ModelResponse) -> Usage:
    used = response.usage
    cost_usd = _cost_usd(response) if used.input_tokens or used.output_tokens else None
    return Usage(used.input_tokens, used.output_tokens, cost_usd)


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
        return FailedAttempt(ModelProviderError(reason, kind="timeout"), usage=_UNKNOWN)
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
        usage=Usage() if failure.status or failure.is_unsent else _UNKNOWN,
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
    kinds = {kind.__name__ for cause in chain for kind in type(cause).__mro__}
    if kinds & _LOST:
        return _Failure("connection", is_unsent=bool(kinds & _UNSENT))
    return _Failure("unusable")


# By their names: which HTTP client an SDK uses depends on its version.
_LOST = {"APIConnectionError", "ModelConnectionError", "OSError", "TransportError"}
_UNSENT = {"ConnectError", "ConnectTimeout"}


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


def _without_keys(value: Json, choice: ModelChoice) -> Json:
    return without_keys(value, key=choice.api_key, url=choice.endpoint)


def _told(text: str, choice: ModelChoice) -> str:
    told = str(_without_keys(text, choice))
    return told if len(told) <= 2_000 else told[:2_000] + "…"
