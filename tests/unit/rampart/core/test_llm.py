from __future__ import annotations

from rampart import LLMConfig


def test_a_key_reaches_no_repr() -> None:
    config = LLMConfig(model="m", endpoint="https://e", api_key="s3cret")
    assert "s3cret" not in repr(config)
    assert config == LLMConfig(model="m", endpoint="https://e", api_key="s3cret")
    assert config != LLMConfig(model="m", endpoint="https://e", api_key="other")
