"""The language model: any OpenAI-compatible endpoint, or Seatrial's embedded one."""

from __future__ import annotations

import json
import os
from typing import Any, Protocol

import httpx

__all__ = ["ChatModel", "Message", "Model"]

Message = dict[str, str]


class Model(Protocol):
    """What the agent needs of a model."""

    name: str

    def choose(self, messages: list[Message], schema: dict[str, Any], seed: int) -> object:
        """The JSON value, made to fit `schema`, with which the model goes on."""


class ChatModel:
    """A model behind `/chat/completions`.

    The endpoint must take JSON schemas with `anyOf`, as llama.cpp, vLLM and SGLang do.
    """

    def __init__(
        self, base_url: str, name: str, *, key: str = "", temperature: float = 0.7
    ) -> None:
        self.name = name
        self._temperature = temperature
        self._http = httpx.Client(
            base_url=base_url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=60.0,
            trust_env=bool(key),  # a proxy has no way to this machine's own loopback
        )

    @classmethod
    def from_environment(cls) -> ChatModel:
        """The model that `HELPDESK_BASE_URL`, `_MODEL` and `_API_KEY` name; without them, `local`."""
        base_url = os.environ.get("HELPDESK_BASE_URL")
        if base_url:
            return cls(
                base_url,
                os.environ["HELPDESK_MODEL"],
                key=os.environ.get("HELPDESK_API_KEY", ""),
            )
        from seatrial.models import local_model

        local = local_model()
        return cls(local.base_url, local.model)

    def choose(self, messages: list[Message], schema: dict[str, Any], seed: int) -> object:
        """The JSON value, made to fit `schema`, with which the model goes on.

        Raises:
            httpx.HTTPError: If the endpoint does not answer.
            ValueError: If the answer is not JSON.
        """
        response = self._http.post(
            "/chat/completions",
            json={
                "model": self.name,
                "messages": messages,
                "temperature": self._temperature,
                "seed": seed,
                "max_tokens": 120,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "call", "schema": schema, "strict": True},
                },
            },
        )
        response.raise_for_status()
        return json.loads(response.json()["choices"][0]["message"]["content"])

    def close(self) -> None:
        """Close the connections to the endpoint."""
        self._http.close()
