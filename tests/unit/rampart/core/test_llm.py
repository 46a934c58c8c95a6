from __future__ import annotations

import pytest

from rampart import LLMConfig
from seatrial.errors import ModelConfigurationError


def test_a_key_reaches_no_repr() -> None:
    config = LLMConfig(model="m", endpoint="https://e", api_key="s3cret")
    assert "s3cret" not in repr(config)
    assert "s3cret" not in repr(config.choice)
    assert config == LLMConfig(model="m", endpoint="https://e", api_key="s3cret")
    assert config != LLMConfig(model="m", endpoint="https://e", api_key="other")


def test_its_choice_is_the_deployment_at_the_endpoint_with_the_settings() -> None:
    config = LLMConfig(
        model="gpt",
        deployment="mine",
        endpoint="https://models.example/v1/",
        api_key="k",
        metadata={"temperature": 0.5, "max_requests_per_minute": 30},
    )
    choice = config.choice
    assert (choice.provider, choice.model, choice.endpoint) == (
        "openai",
        "mine",
        "https://models.example/v1",
    )
    assert choice.api_key == "k"
    assert choice.settings.given() == {"temperature": 0.5}
    assert choice.rate_per_s == 0.5


def test_the_embedded_model_is_called_local() -> None:
    assert LLMConfig(model="local", endpoint="local").choice.name == "local:local"


def test_a_setting_that_does_not_exist_is_refused_when_the_model_is_asked() -> None:
    config = LLMConfig(model="m", endpoint="https://e", metadata={"temprature": 1})
    with pytest.raises(ModelConfigurationError, match="no setting 'temprature'"):
        _ = config.choice


def test_a_model_without_a_name_is_refused_when_it_is_asked() -> None:
    with pytest.raises(ModelConfigurationError, match="model must be text that is not empty"):
        _ = LLMConfig(model="", endpoint="https://e").choice
