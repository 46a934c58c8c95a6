"""Evaluators: what was detected, and on what evidence."""

from __future__ import annotations

from rampart.core.types import TranscriptScope
from rampart.evaluators.judge_prompt import NEUTRAL_EVALUATOR
from rampart.evaluators.llm_judge import LLMJudge
from rampart.evaluators.occurrence import SideEffectOccurred, ToolCalled
from rampart.evaluators.response_contains import ResponseContains

__all__ = [
    "NEUTRAL_EVALUATOR",
    "LLMJudge",
    "ResponseContains",
    "SideEffectOccurred",
    "ToolCalled",
    "TranscriptScope",
]
