"""What eval tests import: cases, their messages, the trace and the judge."""

from __future__ import annotations

from kensa.case import KensaCase, kensa_case
from kensa.judge import JudgeResult, judge, judge_async
from kensa.messages import (
    KensaAssistantMessage,
    KensaDeveloperMessage,
    KensaFunctionCall,
    KensaMessage,
    KensaSystemMessage,
    KensaToolCall,
    KensaToolMessage,
    KensaUserMessage,
)
from kensa.trace import KensaTrace

__all__ = [
    "JudgeResult",
    "KensaAssistantMessage",
    "KensaCase",
    "KensaDeveloperMessage",
    "KensaFunctionCall",
    "KensaMessage",
    "KensaSystemMessage",
    "KensaToolCall",
    "KensaToolMessage",
    "KensaTrace",
    "KensaUserMessage",
    "judge",
    "judge_async",
    "kensa_case",
]
