"""Answers that were given before: which question they belong to, and whether they may be used."""

from __future__ import annotations

import os
from dataclasses import dataclass

from seatrial.models.answer import Question
from seatrial.models.answer_cache import AnswerCache, default_folder, key_of
from seatrial.models.choice import ModelChoice
from seatrial.models.connection import address_of
from seatrial.scope import current_scope
from seatrial.snapshot import JsonObject

__all__ = ["StoredAnswer"]

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The place of one question's answer."""

    cache: AnswerCache
    key: str

    @classmethod
    def of(cls, question: Question, choice: ModelChoice, sample: int) -> StoredAnswer | None:
        """The place; None where answers are not to be stored in this session."""
        scope = current_scope()
        if os.environ.get("SEATRIAL_NO_CACHE") or (scope is not None and not scope.use_cache):
            return None
        key = key_of(
            {
                "format": _FORMAT,
                "provider": choice.provider,
                "address": address_of(choice),
                "api_version": choice.api_version,
                "system": question.system,
                "user": question.user,
                "history": [[message.role, message.text] for message in question.history],
                "schema": question.schema,
                "settings": dict(question.settings.given()),
                "sample": sample,
            }
        )
        return cls(AnswerCache(default_folder()), key)

    def read(self) -> JsonObject | None:
        """The answer, if there is one."""
        return self.cache.get(self.key)

    def write(self, data: JsonObject) -> None:
        """Keep an answer; where that cannot be, the next one asks again."""
        self.cache.put(self.key, data)
