"""Who answers the questions of judges and drivers: a configured model, or a target of PyRIT's shape.

Both answer with a JSON object that fits a schema, or raise one of `seatrial.errors`.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rampart.core.errors import describe_error
from rampart.core.llm import LLMConfig
from seatrial.capture import unobserved
from seatrial.errors import ModelError, ModelProviderError
from seatrial.snapshot import JsonObject

if TYPE_CHECKING:
    from seatrial.models.choice import ModelChoice
    from seatrial.models.settings import RequestSettings

__all__ = [
    "MOST_ATTEMPTS",
    "AskedModel",
    "AskedTarget",
    "Inquiry",
    "PromptTarget",
    "Respondent",
    "respondent_of",
]

MOST_ATTEMPTS = 3
"""Answers in a wrong form that a target may give to one question."""

_TIMEOUT_S = 120.0
"""Seconds for one answer of a target, in which it may try again by itself."""

_LONGEST_MESSAGE = 2_000
_WRONG_FORM = ("empty", "unusable")


@runtime_checkable
class PromptTarget(Protocol):
    """What PyRIT's targets have.

    If there is also `set_system_prompt(*, system_prompt, conversation_id)`, it is used, unless it
    raises `ValueError` or `NotImplementedError`; the message then begins with the instructions.
    """

    async def send_prompt_async(self, *, message: Any) -> Any:
        """Answer a message of one piece.

        Args:
            message: Its `message_pieces[0]` has the text as `converted_value` and `original_value`,
                with `role` "user" and a `conversation_id` of its own.

        Returns:
            A message, or a list whose last one counts. Its pieces have `converted_value`,
            `converted_value_data_type` and `response_error`.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """One question; its parts mean what they do to `seatrial.models.ask_structured_async`."""

    system: str
    user: str
    schema: JsonObject
    purpose: str
    settings: RequestSettings | None = None
    stored: bool = False
    sample: int = 1


class Respondent(Protocol):
    """Who answers, whichever way it is reached."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    async def answer_async(self, inquiry: Inquiry) -> JsonObject:
        """A JSON object that fits the schema.

        Raises:
            ModelError: If there is none.
            MissingExtraError: If the packages that it needs are not installed.
        """
        ...


def respondent_of(
    owner: str, llm: LLMConfig | None, target: PromptTarget | None
) -> AskedModel | AskedTarget:
    """The one that a judge or a driver was given.

    Raises:
        TypeError: Unless it is exactly one, of the right kind.
    """
    if llm is not None and target is not None:
        raise TypeError(f"{owner} asks llm or target, not both")
    if llm is not None:
        if not isinstance(llm, LLMConfig):
            raise TypeError(f"{owner}: llm must be an LLMConfig, not a {type(llm).__name__}")
        return AskedModel(llm)
    if target is None:
        raise TypeError(f"{owner} has nobody to ask: Provide either llm or target")
    if isinstance(target, type) or not isinstance(target, PromptTarget):
        raise TypeError(
            f"{owner}: target must have send_prompt_async(*, message), not be {target!r}"
        )
    return AskedTarget(target)


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model that `seatrial.models` asks."""

    model: LLMConfig | ModelChoice | str

    @property
    def name(self) -> str:
        """The model's name."""
        if isinstance(self.model, LLMConfig):
            return self.model.deployment or self.model.model
        return self.model if isinstance(self.model, str) else self.model.name

    async def answer_async(self, inquiry: Inquiry) -> JsonObject:
        """As `Respondent` says."""
        from seatrial.models import ask_structured_async

        model = self.model.choice if isinstance(self.model, LLMConfig) else self.model
        answer = await ask_structured_async(
            system=inquiry.system,
            user=inquiry.user,
            schema=inquiry.schema,
            purpose=inquiry.purpose,
            model=model,
            settings=inquiry.settings,
            stored=inquiry.stored,
            sample=inquiry.sample,
        )
        return answer.data


@dataclass(frozen=True, slots=True)
class AskedTarget:
    """A target of PyRIT's shape. It has settings and a cache of its own, or none."""

    target: PromptTarget

    @property
    def name(self) -> str:
        """The target's class."""
        return type(self.target).__name__

    async def answer_async(self, inquiry: Inquiry) -> JsonObject:
        """As `Respondent` says. An answer in a wrong form is asked for again, saying so."""
        system = f"{inquiry.system}\n\n{_form(inquiry.schema)}"
        started = time.perf_counter()
        attempt, failed = 0, None
        while True:
            attempt += 1
            try:
                answer = await self._answer(system, inquiry.user, inquiry.schema)
                break
            except ModelProviderError as error:
                if error.kind not in _WRONG_FORM or attempt == MOST_ATTEMPTS:
                    failed = error
                    break
            system = f"{system}\n\nAn answer of yours had another form and could not be read."
        self._note(inquiry.purpose, attempt, time.perf_counter() - started, failed)
        if failed is not None:
            raise failed
        return answer

    async def _answer(self, system: str, user: str, schema: JsonObject) -> JsonObject:
        from seatrial.models.answer import parse_object
        from seatrial.models.json_schema import fault_in

        text = _without_keys(await self._text(system, user))
        data = parse_object(text, model=self.name)
        fault = fault_in(data, schema)
        if fault is not None:
            raise ModelProviderError(
                _told(f"{self.name} cannot be understood: {fault}"), kind="unusable"
            )
        return data

    async def _text(self, system: str, user: str) -> str:
        from rampart.target_messages import message_for, text_of

        conversation_id = str(uuid.uuid4())
        try:
            with unobserved():  # what a judge or a driver asks is not the agent's doing
                if not _instructed(self.target, system, conversation_id):
                    user = f"{system}\n\n{user}"
                message = message_for(self.target, user, conversation_id)
                async with asyncio.timeout(_TIMEOUT_S):
                    reply = await self.target.send_prompt_async(message=message)
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - foreign code: the target; ends as an error of ours
            # Not chained: an SDK's error may quote the request, and with it the key.
            raise _translated(error, self.name) from None
        return text_of(reply, self.name)

    def _note(
        self, purpose: str, attempts: int, duration_s: float, failed: ModelProviderError | None
    ) -> None:
        from seatrial.models.answer import Usage
        from seatrial.models.choice import ModelChoice
        from seatrial.models.spending import note_call

        choice = ModelChoice("target", self.name)
        kind = None if failed is None else failed.kind
        # What it took, the target does not say.
        note_call(choice, purpose, Usage(cost_usd=None), attempts, duration_s, failed=kind)


def _form(schema: JsonObject) -> str:
    return (
        "Answer with one JSON object that fits the schema below, and with nothing else: no words "
        f"around it, no code fence.\n{json.dumps(schema)}"
    )


def _instructed(target: object, system: str, conversation_id: str) -> bool:
    set_system_prompt = getattr(target, "set_system_prompt", None)
    if set_system_prompt is None:
        return False
    try:
        set_system_prompt(system_prompt=system, conversation_id=conversation_id)
    except (ValueError, NotImplementedError):  # PyRIT's way to say that a target takes none
        return False
    return True


def _translated(error: Exception, name: str) -> ModelProviderError:
    kind, status = _kind(error)
    if kind == "timeout":
        return ModelProviderError(_told(f"{name} gave no answer in time"), kind=kind)
    return ModelProviderError(
        _told(f"{name} failed: {describe_error(error)}"), kind=kind, status=status
    )


def _kind(error: BaseException) -> tuple[str, int | None]:
    """What a failure amounts to, also where a target wrapped it."""
    cause: BaseException | None = error
    for _ in range(16):  # causes may form a cycle
        if cause is None:
            break
        names = " ".join(kind.__name__ for kind in type(cause).__mro__)
        status = getattr(cause, "status_code", None)
        status = status if isinstance(status, int) else None
        if "Timeout" in names or status == 408:
            return "timeout", status
        if "RateLimit" in names or status == 429:
            return "throttled", status
        if "EmptyResponse" in names or status == 204:
            return "empty", status
        if status is not None:
            return "status", status
        if isinstance(cause, OSError):
            return "connection", None
        cause = cause.__cause__ or cause.__context__
    return "status", None


def _without_keys(text: str) -> str:
    from seatrial.models.secrets import without_keys

    return str(without_keys(text))


def _told(text: str) -> str:
    told = _without_keys(text)
    return told if len(told) <= _LONGEST_MESSAGE else told[:_LONGEST_MESSAGE] + "…"
