from __future__ import annotations

import subprocess
import sys

import pytest

import kensa
import kensa.judge
import kensa.pytest
import kensa.tracing

NAMES = {
    "kensa": {
        "__version__",
        "instrument",
        "kensa_case",
        "record_llm_call",
        "record_span",
        "record_tool_call",
    },
    "kensa.pytest": {
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
    },
    "kensa.tracing": {
        "JSONLSpanExporter",
        "instrument",
        "record_llm_call",
        "record_span",
        "record_tool_call",
        "span_to_dict",
    },
    "kensa.judge": {"JudgeProvider", "JudgeResult", "judge", "judge_async", "set_judge_provider"},
}


@pytest.mark.parametrize("module", NAMES)
def test_a_module_offers_its_documented_names(module: str) -> None:
    loaded = sys.modules[module]

    assert set(loaded.__all__) == NAMES[module]
    assert all(getattr(loaded, name) is not None for name in NAMES[module])


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'kensa' has no attribute 'nothing'"):
        _ = kensa.nothing
    with pytest.raises(AttributeError, match=r"'kensa\.tracing' has no attribute 'nothing'"):
        _ = kensa.tracing.nothing
    assert "instrument" in dir(kensa)


def test_importing_all_of_it_loads_nothing_heavy() -> None:
    code = (
        "import sys, kensa, kensa.pytest, kensa.tracing, kensa.judge, kensa.blame;"
        "kensa.kensa_case, kensa.record_span, kensa.instrument;"
        "heavy = {'opentelemetry', 'pydantic', 'openai', 'anthropic', 'rich', 'httpx', 'click',"
        " 'pytest', '_pytest'};"
        "print(sorted(heavy & set(sys.modules)))"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert result.stdout.strip() == "[]", result.stderr
