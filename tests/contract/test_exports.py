"""The public names: taking one away, or adding one by accident, breaks a promise."""

from __future__ import annotations

from importlib import import_module

import pytest

PUBLIC = {
    "kensa": """
        __version__ instrument kensa_case record_llm_call record_span record_tool_call
    """,
    "kensa.pytest": """
        JudgeResult KensaAssistantMessage KensaCase KensaDeveloperMessage KensaFunctionCall
        KensaMessage KensaSystemMessage KensaToolCall KensaToolMessage KensaTrace KensaUserMessage
        judge judge_async kensa_case
    """,
    "kensa.tracing": """
        JSONLSpanExporter instrument record_llm_call record_span record_tool_call span_to_dict
    """,
    "rampart": """
        AgentAdapter AppManifest Attacks BaseEvaluator BaseExecution Channel DataSource DriverError
        EvalContext EvalOutcome EvalResult Evaluator EvaluatorError ExecutionEvent
        ExecutionEventData ExecutionEventHandler HarmCategory InfrastructureError InjectionHandle
        InjectionRecord LLMConfig LLMDriver LLMJudge ObservabilityLevel Payload PayloadConverter
        PayloadFormat Persona Probes PromptDecision PromptDriver Request Response ResponseContains
        Result SafetyStatus Session SideEffect SideEffectOccurred StaticDriver Surface ToolCall
        ToolCalled ToolDeclaration TranscriptScope Turn record_result resolve_as_attack
        resolve_as_probe
    """,
    "rampart.drivers": "LLMDriver StaticDriver",
    "rampart.evaluators": """
        LLMJudge NEUTRAL_EVALUATOR ResponseContains SideEffectOccurred ToolCalled TranscriptScope
    """,
    "rampart.payloads": "PayloadTemplate Payloads",
    "rampart.reporting": """
        JsonFileReportSink PopulationSummary ReportSink TestRunReport TrialGroupResult
    """,
}


@pytest.mark.parametrize("module", PUBLIC)
def test_a_module_exports_what_it_promises(module: str) -> None:
    loaded = import_module(module)
    assert sorted(loaded.__all__) == sorted(PUBLIC[module].split())
    for name in loaded.__all__:
        assert getattr(loaded, name) is not None


@pytest.mark.parametrize("module", ["kensa", "rampart"])
def test_a_name_that_does_not_exist_is_an_ordinary_attribute_error(module: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'nonsense'"):
        _ = import_module(module).nonsense


@pytest.mark.parametrize("module", ["kensa", "rampart"])
def test_names_that_load_late_are_listed_all_the_same(module: str) -> None:
    assert set(PUBLIC[module].split()) <= set(dir(import_module(module)))
