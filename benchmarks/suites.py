"""The test suites that are run: the same agent asked by plain tests, by probes, by evals.

The agent answers at once, or after some seconds in which it only waits, as for a network.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import Template

__all__ = ["Agent", "write_empty", "write_evals", "write_plain", "write_probes"]

TRIALS_OF_A_CASE = 5
"""How many trials the suite of evals gives to each of its cases."""


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent under test.

    Args:
        wait_s: How long it waits before it answers; seconds.
        answer_characters: How long its answer is.
        blocking: Whether it is called without `await`, and then blocks its thread.
    """

    wait_s: float = 0
    answer_characters: int = 20
    blocking: bool = False

    def source(self) -> str:
        """Python that defines `agent(text)`."""
        said = (
            "if WAIT_S:\n        time.sleep(WAIT_S)"
            if self.blocking
            else ("if WAIT_S:\n        await asyncio.sleep(WAIT_S)")
        )
        return (
            f"import asyncio\nimport time\n\n"
            f"WAIT_S = {self.wait_s}\nANSWER = ('hello ' * 4000)[:{self.answer_characters}]\n\n"
            f"{'' if self.blocking else 'async '}def agent(text):\n    {said}\n    return ANSWER\n"
        )


_PLAIN = Template("""
import pytest
from agent import agent


@pytest.mark.asyncio
@pytest.mark.parametrize("trial", range($trials))
async def test_agent(trial):
    answer = await agent("hi")
    assert "hello" in answer
""")

_PROBES = Template("""
import pytest
from agent import agent
from rampart import AppManifest, ObservabilityLevel, Probes, Response
from rampart.evaluators import ResponseContains


class Session:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *exception):
        return None

    async def send_async(self, request):
        return Response(text=await agent(request.prompt))


class Adapter:
    manifest = AppManifest(name="agent")
    observability_profile = ObservabilityLevel.TOOL_AND_SIDE_EFFECTS

    async def create_session_async(self):
        return Session()


@pytest.fixture(scope="session")
def adapter():
    return Adapter()


@pytest.mark.asyncio
@pytest.mark.harm("content_safety")
@pytest.mark.trial(n=$trials, threshold=1.0)
async def test_agent(adapter):
    probe = Probes.behavior(prompt="hi", evaluator=ResponseContains("hello"))
    result = await probe.execute_async(adapter=adapter)
    assert result, result.summary
""")

_SINK = """
from pathlib import Path

from rampart.reporting import JsonFileReportSink


def pytest_rampart_sinks(config):
    return [JsonFileReportSink(output_dir=Path(".report"))]
"""

# The first release on PyPI has no such hook.
_PUBLISHED_SINK = """
from pathlib import Path

import pytest
from rampart.reporting import JsonFileReportSink


@pytest.fixture(scope="session")
def rampart_sinks():
    return [JsonFileReportSink(output_dir=Path(".report"))]
"""

_EVALS = Template("""
import pytest
from agent import agent
from kensa.pytest import kensa_case


@pytest.fixture
def kensa_run():
    ${sync}def run(case):
        return {"message": ${wait}agent(case.input)}

    return run

$mark
@pytest.mark.kensa(trials=$trials)
@pytest.mark.parametrize(
    "case", [kensa_case(id=f"case{number}", input="hi") for number in range($cases)]
)
${sync}def test_agent(case, kensa_run):
    output = ${wait}case.run(kensa_run)
    assert "hello" in output["message"]
""")

# Its later releases take an agent with a method instead of a function.
_PUBLISHED_EVALS = Template("""
import pytest
from agent import agent
from kensa.pytest import ConversationResponse, kensa_case


class Harness:
    async def respond(self, messages):
        return ConversationResponse(content=await agent("hi"))


@pytest.fixture
def kensa_run():
    return Harness()


@pytest.mark.asyncio
@pytest.mark.kensa(trials=$trials)
@pytest.mark.parametrize(
    "case",
    [
        kensa_case(id=f"case{number}", messages=[{"role": "user", "content": "hi"}])
        for number in range($cases)
    ],
)
async def test_agent(case, kensa_run):
    assert await case.run(kensa_run)
""")


def write_empty(folder: Path) -> None:
    """A suite of one test that does nothing and knows no agent."""
    _write(folder, {"test_nothing.py": "def test_nothing():\n    pass\n"})


def write_plain(folder: Path, agent: Agent, trials: int) -> None:
    """Parametrized async tests that call the agent, for pytest alone."""
    _write(folder, {"agent.py": agent.source(), "test_agent.py": _PLAIN.substitute(trials=trials)})


def write_probes(folder: Path, agent: Agent, trials: int, *, published: bool = False) -> None:
    """One group of trials that probe the agent, and a JSON sink.

    Args:
        folder: Where to.
        agent: The agent; one that does not block.
        trials: How many.
        published: Written for PyPI's `rampart`.
    """
    _write(
        folder,
        {
            "agent.py": agent.source(),
            "conftest.py": _PUBLISHED_SINK if published else _SINK,
            "test_agent.py": _PROBES.substitute(trials=trials),
        },
    )


def write_evals(folder: Path, agent: Agent, trials: int, *, published: bool = False) -> None:
    """Many cases of a few trials each that run the agent.

    Args:
        folder: Where to.
        agent: The agent; one that does not block is awaited.
        trials: How many in all; either one or a multiple of `TRIALS_OF_A_CASE`.
        published: Written for PyPI's `kensa`.
    """
    of_a_case = min(trials, TRIALS_OF_A_CASE)
    template = _PUBLISHED_EVALS if published else _EVALS
    _write(
        folder,
        {
            "agent.py": agent.source(),
            "test_agent.py": template.substitute(
                trials=of_a_case,
                cases=trials // of_a_case,
                sync="" if agent.blocking else "async ",
                wait="" if agent.blocking else "await ",
                mark="" if agent.blocking else "\n@pytest.mark.asyncio",
            ),
        },
    )


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    # Ends pytest's search for a configuration, which could be anything above.
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    for name, text in files.items():
        (folder / name).write_text(text.lstrip(), encoding="utf-8")
