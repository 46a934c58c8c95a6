"""Questions to any provider that pydantic-ai knows; it is imported with the first question."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from seatrial.errors import (
    MissingExtraError,
    ModelConfigurationError,
    ModelError,
    ModelProviderError,
)
from seatrial.event_loop import run_on_own_loop
from seatrial.models.answer import Question, Reply
from seatrial.models.choice import ModelChoice

if TYPE_CHECKING:
    from pydantic_ai import ModelResponse

__all__ = ["ask"]


def ask(question: Question, choice: ModelChoice) -> Reply:
    """Ask `choice`; not to be called inside a running event loop.

    Raises:
        MissingExtraError: If the extra `llm`, or what pydantic-ai needs for the provider, is not
            installed.
        ModelConfigurationError: If there is no such provider or model, or no key for it.
        ModelProviderError: If it does not answer in time or in form.
    """
    try:
        import pydantic_ai  # noqa: F401
    except ImportError:
        raise MissingExtraError("llm", f"the model {choice.provider}:{choice.model}") from None
    try:
        return run_on_own_loop(_ask(question, choice))
    except Exception as error:  # noqa: BLE001 - whatever an SDK raises becomes one of our errors
        # Not chained: a provider's error may quote the request, and with it the key.
        raise _translate(error, question, choice) from None


async def _ask(question: Question, choice: ModelChoice) -> Reply:
    from pydantic_ai import Agent, StructuredDict

    # Most servers that stand in for OpenAI's know only its older interface.
    by_url = choice.provider == "openai" and os.environ.get("OPENAI_BASE_URL")
    name = f"{'openai-chat' if by_url else choice.provider}:{choice.model}"
    output: Any = str if question.schema is None else StructuredDict(question.schema, name="answer")
    agent = Agent(name, instructions=question.system, output_type=output)
    async with asyncio.timeout(question.timeout_s), agent:
        result = await agent.run(question.user)
    responses = [message for message in result.all_messages() if message.kind == "response"]
    return Reply(
        content=result.output if question.schema is None else dict(result.output),
        input_tokens=sum(response.usage.input_tokens for response in responses),
        output_tokens=sum(response.usage.output_tokens for response in responses),
        cost_usd=_cost_usd(responses),
    )


def _cost_usd(responses: list[ModelResponse]) -> float | None:
    try:
        return float(sum(response.cost().total_price for response in responses))
    except (LookupError, ValueError, AssertionError):
        return None


def _translate(
    error: Exception, question: Question, choice: ModelChoice
) -> ModelError | MissingExtraError:
    from pydantic_ai.exceptions import UserError

    asked = f"{choice.provider}:{choice.model}"
    if isinstance(error, TimeoutError):
        return ModelProviderError(f"{asked} gave no answer in {question.timeout_s:g} s")
    if isinstance(error, ImportError):
        return MissingExtraError("llm", f"the model {asked} ({_without_keys(str(error))})")
    if isinstance(error, UserError):
        return ModelConfigurationError(f"{asked} cannot be asked: {_without_keys(str(error))}")
    return ModelProviderError(
        f"{asked} failed: {type(error).__name__}: {_without_keys(str(error))}"
    )


def _without_keys(text: str) -> str:
    for name, value in os.environ.items():
        if name.endswith(("_KEY", "_TOKEN", "_SECRET")) and len(value) >= 8:
            text = text.replace(value, f"[{name}]")
    return text
