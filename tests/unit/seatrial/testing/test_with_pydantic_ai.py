"""pydantic-ai's models take the server for their providers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from seatrial.testing import (
    ErrorReply,
    Message,
    ModelServer,
    RawReply,
    RefusalReply,
    StructuredReply,
    TextReply,
    ToolCall,
)

pytest.importorskip("pydantic_ai", reason="the extra `llm` is not installed")

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelHTTPError,
    UnexpectedModelBehavior,
)
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

_CHAT = "openai-chat"
_RESPONSES = "openai-responses"
_MESSAGES = "anthropic"
_PROTOCOLS = [_CHAT, _RESPONSES, _MESSAGES]


class City(BaseModel):
    name: str
    people: int


_PARIS = City(name="Paris", people=2_000_000)


@asynccontextmanager
async def model_of(server: ModelServer, protocol: str) -> AsyncIterator[Any]:
    """pydantic-ai's model for the protocol, on an SDK that does not retry."""
    if protocol == _MESSAGES:
        from anthropic import AsyncAnthropic

        async with AsyncAnthropic(
            base_url=server.anthropic_base_url, api_key="k", max_retries=0
        ) as anthropic:
            provider = AnthropicProvider(anthropic_client=anthropic)
            # A name that will not be retired, of a family that takes JSON schemas.
            yield AnthropicModel("claude-sonnet-4-5-x", provider=provider)
        return
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=server.openai_base_url, api_key="k", max_retries=0) as openai:
        kind = OpenAIChatModel if protocol == _CHAT else OpenAIResponsesModel
        yield kind("gpt-4o", provider=OpenAIProvider(openai_client=openai))


_everywhere = pytest.mark.parametrize("protocol", _PROTOCOLS)


@pytest.mark.asyncio
@_everywhere
async def test_an_agent_gets_its_text_and_its_usage(protocol: str) -> None:
    with ModelServer([TextReply("Paris", input_tokens=70, output_tokens=2)]) as server:
        async with model_of(server, protocol) as model:
            result = await Agent(model, instructions="Be brief.").run("Capital of France?")
        (request,) = server.requests
    assert result.output == "Paris"
    assert (result.usage.input_tokens, result.usage.output_tokens) == (70, 2)
    assert request.protocol == protocol
    assert request.system == "Be brief."
    assert request.messages == (Message("user", "Capital of France?"),)


@pytest.mark.asyncio
@_everywhere
async def test_an_agent_calls_its_tool_and_tells_what_came_of_it(protocol: str) -> None:
    with ModelServer([ToolCall("people", {"city": "Paris"}), "Two million."]) as server:
        async with model_of(server, protocol) as model:
            agent = Agent(model)

            @agent.tool_plain
            def people(city: str) -> str:
                return f"{city}: 2000000"

            result = await agent.run("How many live in Paris?")
        first, second = server.requests
    assert result.output == "Two million."
    assert [tool.name for tool in first.tools] == ["people"]
    assert [message.role for message in second.messages] == ["user", "assistant", "tool"]
    assert "people(" in second.messages[1].text
    assert second.messages[2].text == "Paris: 2000000"


@pytest.mark.asyncio
@_everywhere
@pytest.mark.parametrize("output", [City, NativeOutput(City)], ids=["tool", "native"])
async def test_an_agent_gets_structured_data_whichever_way_it_asks(
    protocol: str, output: Any
) -> None:
    with ModelServer(answer=StructuredReply(_PARIS.model_dump())) as server:
        async with model_of(server, protocol) as model:
            agent = Agent(model, output_type=output)

            @agent.tool_plain
            def people(city: str) -> str:
                raise AssertionError(f"{city} was asked for, but the answer was meant")

            result = await agent.run("Paris?")
        (request,) = server.requests
    assert result.output == _PARIS
    assert (request.output_schema is None) == bool(request.forced_tools)


@pytest.mark.asyncio
@_everywhere
async def test_an_agent_streams_text(protocol: str) -> None:
    text = "Paris is the capital of France."
    with ModelServer(answer=text) as server:
        async with model_of(server, protocol) as model, Agent(model).run_stream("?") as stream:
            pieces = [piece async for piece in stream.stream_text(delta=True, debounce_by=None)]
            usage = stream.usage
        assert server.requests[0].streamed
    assert "".join(pieces) == text
    assert len(pieces) > 2
    assert (usage.input_tokens, usage.output_tokens) == (12, 3)


@pytest.mark.asyncio
@_everywhere
async def test_an_agent_streams_structured_data(protocol: str) -> None:
    with ModelServer(answer=StructuredReply(_PARIS.model_dump())) as server:
        async with (
            model_of(server, protocol) as model,
            Agent(model, output_type=City).run_stream("Paris?") as stream,
        ):
            assert await stream.get_output() == _PARIS


@pytest.mark.asyncio
@_everywhere
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_refusal_is_seen_as_one(protocol: str, streamed: bool) -> None:
    with ModelServer(answer=RefusalReply("Certainly not.")) as server:
        async with model_of(server, protocol) as model:
            agent = Agent(model)
            if streamed:
                async with agent.iter("?") as run:
                    async for node in run:
                        if Agent.is_model_request_node(node):
                            async with node.stream(run.ctx) as stream:
                                async for _ in stream:
                                    pass
                            response = stream.response
                            break
            else:
                from pydantic_ai.direct import model_request
                from pydantic_ai.messages import ModelRequest

                response = await model_request(model, [ModelRequest.user_text_prompt("?")])
    assert response.finish_reason == "content_filter"


@pytest.mark.asyncio
@_everywhere
@pytest.mark.parametrize("output", [City, NativeOutput(City)], ids=["tool", "native"])
async def test_broken_json_is_not_taken_for_an_answer(protocol: str, output: Any) -> None:
    with ModelServer(answer=StructuredReply('{"name": "Par')) as server:
        async with model_of(server, protocol) as model:
            agent = Agent(model, output_type=output, retries=0)
            with pytest.raises(UnexpectedModelBehavior):
                await agent.run("Paris?")


@pytest.mark.asyncio
@_everywhere
@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 429, 500, 503])
async def test_an_error_has_its_status_and_its_words(protocol: str, status: int) -> None:
    with ModelServer(answer=ErrorReply(status, "Not today.")) as server:
        async with model_of(server, protocol) as model:
            with pytest.raises(ModelHTTPError, match="Not today") as caught:
                await Agent(model).run("?")
    assert caught.value.status_code == status


@pytest.mark.asyncio
@_everywhere
@pytest.mark.parametrize("cut", ["head", "body"])
async def test_a_cut_connection_is_an_error(protocol: str, cut: Any) -> None:
    with ModelServer(answer=TextReply("Paris", cut=cut)) as server:
        async with model_of(server, protocol) as model:
            with pytest.raises(ModelAPIError):
                await Agent(model).run("?")


@pytest.mark.asyncio
@_everywhere
async def test_bytes_that_are_no_answer_are_an_error(protocol: str) -> None:
    page = RawReply(b"<html>Bad gateway</html>", content_type="text/html")
    with ModelServer(answer=page) as server:
        async with model_of(server, protocol) as model:
            with pytest.raises(AgentRunError, match=r"JSON|ended without content"):
                await Agent(model).run("?")


@pytest.mark.asyncio
@_everywhere
async def test_fifty_agents_at_once_each_get_their_own_answer(protocol: str) -> None:
    with ModelServer(answer=lambda request: request.messages[-1].text) as server:
        async with model_of(server, protocol) as model:
            agent = Agent(model)
            results = await asyncio.gather(*(agent.run(str(number)) for number in range(50)))
    assert [result.output for result in results] == [str(number) for number in range(50)]
