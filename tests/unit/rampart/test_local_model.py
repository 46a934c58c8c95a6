"""The judge and the driver on the embedded model: that they come to an answer, whatever it says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rampart import EvalContext, LLMConfig, LLMDriver, LLMJudge, Persona, Response
from seatrial.models import local_server
from seatrial.models.local import release_local_model
from seatrial.scope import TrialScope

pytestmark = pytest.mark.skipif(
    local_server.find_weights() is None, reason="the extra `local` is not installed"
)
LOCAL = LLMConfig(model="local", endpoint="local")


@pytest.fixture(scope="module", autouse=True)
def _use() -> Iterator[None]:
    yield
    release_local_model()


@pytest.mark.asyncio
async def test_the_embedded_model_can_judge(trial_scope: TrialScope) -> None:
    context = EvalContext.from_response(response=Response(text="No."), prompt="The code?")
    result = await LLMJudge(objective="It says the code.", llm=LOCAL).evaluate_async(
        context=context
    )
    assert not result.rationale.startswith("the judge gave no verdict")
    assert [call["model"] for call in trial_scope.model_calls] == ["local"]


@pytest.mark.asyncio
async def test_the_embedded_model_can_drive() -> None:
    driver = LLMDriver(persona=Persona(name="customer", system_prompt="You buy shoes."), llm=LOCAL)
    decision = await driver.next_prompt_async(history=[])
    assert decision is not None
    assert decision.request.prompt
