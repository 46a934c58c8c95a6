"""Questions to the embedded model, over its own interface and with nothing but the standard library."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from seatrial.errors import ModelProviderError
from seatrial.models.answer import Question, Reply, Usage, parse_object
from seatrial.models.json_schema import fault_in
from seatrial.models.local import LocalModel, local_model
from seatrial.snapshot import Json, JsonObject

__all__ = ["ask"]

_MAX_ANSWER_TOKENS = 512

# A model this small, left free in a text or a list, often repeats itself until it is cut off.
_MAX_CHARACTERS = 160
_MAX_ITEMS = 2


def ask(question: Question) -> Reply:
    """Start the embedded model if need be, and ask it.

    Raises:
        MissingExtraError: If the extra `local` is not installed.
        ModelProviderError: If it does not answer in time or in form.
    """
    server = local_model()
    answer = _post(server, _request(question, server.model), question.timeout_s)
    try:
        text = str(answer["choices"][0]["message"]["content"])
        usage = answer["usage"]
        input_tokens, output_tokens = int(usage["prompt_tokens"]), int(usage["completion_tokens"])
    except (LookupError, TypeError, ValueError) as error:
        raise ModelProviderError(
            f"the local model answered {str(answer)[:200]!r}", kind="unusable"
        ) from error
    return Reply(
        content=text if question.schema is None else _object(text, question.schema),
        usage=Usage(input_tokens, output_tokens, 0.0),
    )


def _object(text: str, schema: JsonObject) -> JsonObject:
    data = parse_object(text, model="the local model")
    fault = fault_in(data, schema)
    if fault is not None:
        raise ModelProviderError(f"the local model cannot be understood: {fault}", kind="unusable")
    return data


def _request(question: Question, model: str) -> dict[str, Any]:
    request: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": question.system},
            *({"role": said.role, "content": said.text} for said in question.history),
            {"role": "user", "content": question.user},
        ],
        "temperature": 0.0,
        "max_tokens": _MAX_ANSWER_TOKENS,
        **question.settings.given(),
    }
    if question.schema is not None:
        request["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": _bounded(question.schema), "strict": True},
        }
    return request


def _bounded(schema: Json) -> Json:
    """`schema` with an end to every text and list that it leaves open."""
    if isinstance(schema, list):
        return [_bounded(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    bounded = {key: _bounded(value) for key, value in schema.items()}
    if schema.get("type") == "string" and not schema.keys() & {
        "enum",
        "const",
        "format",
        "pattern",
    }:
        bounded.setdefault("maxLength", _MAX_CHARACTERS)
    if schema.get("type") == "array":
        bounded.setdefault("maxItems", _MAX_ITEMS)
    return bounded


def _post(server: LocalModel, request: dict[str, Any], timeout_s: float) -> Any:
    address = urlsplit(server.base_url)
    assert address.hostname is not None
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=timeout_s)
    try:
        connection.request(
            "POST",
            f"{address.path}/chat/completions",
            json.dumps(request),
            {"Content-Type": "application/json"},
        )
        response = connection.getresponse()
        body = response.read()
    except TimeoutError as error:
        raise ModelProviderError(
            f"the local model gave no answer in {timeout_s:g} s", kind="timeout"
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise ModelProviderError(
            f"the local model went away: {error!r}", kind="connection"
        ) from error
    finally:
        connection.close()
    if response.status != http.HTTPStatus.OK:
        raise ModelProviderError(
            f"the local model answered {response.status}: {body[:500]!r}", status=response.status
        )
    try:
        return json.loads(body)
    except ValueError as error:
        raise ModelProviderError(
            f"the local model answered {body[:200]!r}", kind="unusable"
        ) from error
