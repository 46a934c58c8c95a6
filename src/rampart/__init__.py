"""The safety face: what an agent must never be talked into, as tests."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rampart.attacks import Attacks
    from rampart.core.adapter import AgentAdapter, Session
    from rampart.core.converter import PayloadConverter
    from rampart.core.errors import DriverError, EvaluatorError, InfrastructureError
    from rampart.core.evaluator import BaseEvaluator, Evaluator
    from rampart.core.execution import (
        BaseExecution,
        ExecutionEvent,
        ExecutionEventData,
        ExecutionEventHandler,
    )
    from rampart.core.injection import InjectionHandle, Surface
    from rampart.core.llm import LLMConfig
    from rampart.core.manifest import AppManifest, DataSource, ToolDeclaration
    from rampart.core.persona import Persona
    from rampart.core.prompt_driver import PromptDecision, PromptDriver
    from rampart.core.result import (
        HarmCategory,
        InjectionRecord,
        Result,
        SafetyStatus,
        resolve_as_attack,
        resolve_as_probe,
    )
    from rampart.core.types import (
        Channel,
        EvalContext,
        EvalOutcome,
        EvalResult,
        ObservabilityLevel,
        Payload,
        PayloadFormat,
        Request,
        Response,
        SideEffect,
        ToolCall,
        TranscriptScope,
        Turn,
    )
    from rampart.drivers import LLMDriver, StaticDriver
    from rampart.evaluators import LLMJudge, ResponseContains, SideEffectOccurred, ToolCalled
    from rampart.probes import Probes
    from rampart.recording import record_result

__all__ = [
    "AgentAdapter",
    "AppManifest",
    "Attacks",
    "BaseEvaluator",
    "BaseExecution",
    "Channel",
    "DataSource",
    "DriverError",
    "EvalContext",
    "EvalOutcome",
    "EvalResult",
    "Evaluator",
    "EvaluatorError",
    "ExecutionEvent",
    "ExecutionEventData",
    "ExecutionEventHandler",
    "HarmCategory",
    "InfrastructureError",
    "InjectionHandle",
    "InjectionRecord",
    "LLMConfig",
    "LLMDriver",
    "LLMJudge",
    "ObservabilityLevel",
    "Payload",
    "PayloadConverter",
    "PayloadFormat",
    "Persona",
    "Probes",
    "PromptDecision",
    "PromptDriver",
    "Request",
    "Response",
    "ResponseContains",
    "Result",
    "SafetyStatus",
    "Session",
    "SideEffect",
    "SideEffectOccurred",
    "StaticDriver",
    "Surface",
    "ToolCall",
    "ToolCalled",
    "ToolDeclaration",
    "TranscriptScope",
    "Turn",
    "record_result",
    "resolve_as_attack",
    "resolve_as_probe",
]

_HOMES = {
    "rampart.attacks": ("Attacks",),
    "rampart.core.adapter": ("AgentAdapter", "Session"),
    "rampart.core.converter": ("PayloadConverter",),
    "rampart.core.errors": ("DriverError", "EvaluatorError", "InfrastructureError"),
    "rampart.core.evaluator": ("BaseEvaluator", "Evaluator"),
    "rampart.core.execution": (
        "BaseExecution",
        "ExecutionEvent",
        "ExecutionEventData",
        "ExecutionEventHandler",
    ),
    "rampart.core.injection": ("InjectionHandle", "Surface"),
    "rampart.core.llm": ("LLMConfig",),
    "rampart.core.manifest": ("AppManifest", "DataSource", "ToolDeclaration"),
    "rampart.core.persona": ("Persona",),
    "rampart.core.prompt_driver": ("PromptDecision", "PromptDriver"),
    "rampart.core.result": (
        "HarmCategory",
        "InjectionRecord",
        "Result",
        "SafetyStatus",
        "resolve_as_attack",
        "resolve_as_probe",
    ),
    "rampart.core.types": (
        "Channel",
        "EvalContext",
        "EvalOutcome",
        "EvalResult",
        "ObservabilityLevel",
        "Payload",
        "PayloadFormat",
        "Request",
        "Response",
        "SideEffect",
        "ToolCall",
        "TranscriptScope",
        "Turn",
    ),
    "rampart.drivers": ("LLMDriver", "StaticDriver"),
    "rampart.evaluators": ("LLMJudge", "ResponseContains", "SideEffectOccurred", "ToolCalled"),
    "rampart.probes": ("Probes",),
    "rampart.recording": ("record_result",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: pytest starts in many suites that have no agent."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Not kept: nested pytest sessions load the library anew, and classes of two loads do not mix.
    value: object = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
