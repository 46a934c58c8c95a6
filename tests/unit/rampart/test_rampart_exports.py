from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import rampart

PACKAGES = ["core", "attacks", "probes", "drivers", "evaluators", "payloads", "reporting"]
CORE_MODULES = (
    "adapter converter errors evaluator execution injection llm manifest persona prompt_driver "
    "result types"
)


@pytest.mark.parametrize("name", rampart.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(rampart, name) is not None


def test_public_names_are_sorted_and_listed() -> None:
    assert list(rampart.__all__) == sorted(set(rampart.__all__))
    assert set(rampart.__all__) <= set(dir(rampart))


def test_the_names_of_the_documentation_are_there() -> None:
    expected = {"Attacks", "Probes", "HarmCategory", "Result", "SafetyStatus", "record_result"}
    assert expected <= set(rampart.__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_export_what_they_list(package: str) -> None:
    module = importlib.import_module(f"rampart.{package}")
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize("module", CORE_MODULES.split())
def test_core_modules_are_where_they_are_documented(module: str) -> None:
    assert importlib.import_module(f"rampart.core.{module}").__all__


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'rampart' has no attribute 'LLMJury'"):
        rampart.LLMJury  # noqa: B018


def test_importing_the_package_loads_none_of_its_parts() -> None:
    code = "import rampart, sys; print([m for m in sys.modules if m.startswith('rampart.')])"
    shown = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert shown.stdout.strip() == "[]"


def test_using_all_of_it_loads_nothing_heavy() -> None:
    heavy = ["pydantic", "opentelemetry", "openai", "anthropic", "rich", "httpx", "click", "pytest"]
    code = (
        "import sys\nfrom rampart import *\nimport rampart.payloads, rampart.reporting, rampart.summary\n"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert shown.stdout.strip() == "[]"
