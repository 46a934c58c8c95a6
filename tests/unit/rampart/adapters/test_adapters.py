"""Ready adapters, with real functions, a real server and real programs."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rampart import (
    ObservabilityLevel,
    Payload,
    Probes,
    Request,
    Response,
    ResponseContains,
    SafetyStatus,
    ToolCalled,
)
from rampart.adapters import CallableAdapter, HttpAdapter, ProcessAdapter
from rampart.adapters.answers import LARGEST_ANSWER
from rampart.core.errors import InfrastructureError
from rampart.core.timeouts import Timeouts

TOOLS = ObservabilityLevel.TOOL_ONLY
WITH_FILE = Request(prompt="read", attachments=[Payload(content="x", id="doc-1")])


async def talk(adapter: Any, *prompts: str) -> list[Response]:
    async with await adapter.create_session_async() as session:
        return [await session.send_async(Request(prompt=prompt)) for prompt in prompts]


# -- in process -----------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_function_is_an_agent() -> None:
    adapter = CallableAdapter(lambda prompt: f"hello {prompt}")
    probe = Probes.behavior(prompt="world", evaluator=ResponseContains("hello world"))
    result = await probe.execute_async(adapter=adapter)
    assert result.status is SafetyStatus.SAFE
    assert result.observability_level is ObservabilityLevel.RESPONSE_ONLY


@pytest.mark.asyncio
async def test_an_async_agent_may_answer_with_what_it_did() -> None:
    async def agent(prompt: str) -> dict[str, Any]:
        await asyncio.sleep(0)
        call = {"name": "send", "arguments": {"to": prompt}, "result": "ok"}
        return {"text": "done", "tool_calls": [call], "side_effects": [{"kind": "mail"}]}

    (response,) = await talk(CallableAdapter(agent, observability=TOOLS), "bob")
    assert response.tool_calls[0].arguments == {"to": "bob"}
    assert response.tool_calls[0].result == "ok"
    assert [effect.kind for effect in response.side_effects] == ["mail"]


@pytest.mark.asyncio
async def test_a_blocking_agent_blocks_no_other() -> None:
    together = threading.Barrier(2, timeout=20)

    def agent(prompt: str) -> str:
        together.wait()
        return prompt

    adapter = CallableAdapter(agent)
    answers = await asyncio.gather(talk(adapter, "a"), talk(adapter, "b"))
    assert [answer[0].text for answer in answers] == ["a", "b"]


@pytest.mark.asyncio
async def test_an_agent_made_for_each_session_remembers_within_it() -> None:
    def make() -> Any:
        said: list[str] = []

        def agent(prompt: str) -> str:
            said.append(prompt)
            return " ".join(said)

        return agent

    adapter = CallableAdapter(make, sessions="made")
    assert [r.text for r in await talk(adapter, "a", "b")] == ["a", "a b"]
    assert [r.text for r in await talk(adapter, "c")] == ["c"]


@pytest.mark.asyncio
async def test_attachments_reach_an_agent_that_takes_requests_and_are_refused_by_name_else() -> (
    None
):
    adapter = CallableAdapter(lambda request: request.attachments[0].content, takes="request")
    async with await adapter.create_session_async() as session:
        assert (await session.send_async(WITH_FILE)).text == "x"
    async with await CallableAdapter(str).create_session_async() as session:
        with pytest.raises(InfrastructureError, match=r"prompts only.*doc-1 \(text\)"):
            await session.send_async(WITH_FILE)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (3, "answered with a int"),
        ({"text": 3}, "is a int: expected text"),
        ({"text": "a", "tool_calls": "x"}, "expected a list"),
        ({"text": "a", "tool_calls": [{"arguments": {}}]}, "name of a tool call"),
        ({"text": "a", "side_effects": ["x"]}, "expected an object"),
    ],
)
async def test_an_answer_that_is_none_is_no_verdict(answer: object, words: str) -> None:
    adapter = CallableAdapter(lambda prompt: answer)
    result = await Probes.behavior(prompt="p", evaluator=ResponseContains("a")).execute_async(
        adapter=adapter
    )
    assert result.status is SafetyStatus.ERROR
    assert words in result.summary


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"agent": 3}, TypeError),
        ({"agent": str, "sessions": "two"}, ValueError),
        ({"agent": str, "takes": "all"}, ValueError),
        ({"agent": str, "observability": "tool_only"}, TypeError),
    ],
)
def test_a_callable_adapter_refuses_what_means_nothing(
    arguments: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"expected|must be"):
        CallableAdapter(**arguments)


# -- HTTP -----------------------------------------------------------------------------------


class Service:
    """An agent behind HTTP; `answer` is its next, as JSON or bytes."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answer: object = {"answer": "hi"}
        self.status = 200
        self.received: list[tuple[dict[str, str], Any]] = []


@contextmanager
def serving() -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.received.append((dict(self.headers), body))
            answer = service.answer
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(service.status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service = Service(f"http://127.0.0.1:{server.server_port}/chat")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as service:
        yield service


@pytest.mark.asyncio
async def test_an_http_agent_is_asked_by_a_template_and_read_by_paths(service: Service) -> None:
    service.answer = {
        "choices": [{"message": {"content": "hi"}}],
        "did": {"calls": [{"name": "send", "arguments": {"to": "x"}}], "effects": None},
    }
    adapter = HttpAdapter(
        service.url,
        body={"q": "say: {prompt}", "id": "{session}", "n": 3, "all": "{messages}"},
        text="choices.0.message.content",
        tool_calls="did.calls",
        side_effects="did.effects",
        headers={"Authorization": "Bearer secret-key-123"},
        observability=TOOLS,
    )
    first, second = await talk(adapter, "one {session}", "two")
    assert (first.text, first.tool_calls[0].name, first.side_effects) == ("hi", "send", [])
    (headers, asked), (_, again) = service.received
    assert headers["Authorization"] == "Bearer secret-key-123"
    assert asked["q"] == "say: one {session}"  # what is said is never filled in itself
    assert asked["n"] == 3
    assert again["id"] == asked["id"]
    assert again["all"] == [
        {"role": "user", "content": "one {session}"},
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": "two"},
    ]
    await talk(adapter, "three")
    assert service.received[-1][1]["id"] != asked["id"]
    assert "secret-key-123" not in repr(adapter)
    assert second.text == "hi"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("status", "answer", "words"),
    [
        (500, b"out of \x1b[31mmemory", "answered 500: out of"),
        (200, b"<html>", "answered with no JSON"),
        (200, {"other": 1}, "its answer has no answer"),
        (200, {"answer": 3}, "expected text"),
        (200, b'"' + b"x" * (LARGEST_ANSWER + 10) + b'"', "more than 10,000,000 bytes"),
    ],
)
async def test_what_an_http_agent_breaks_is_infrastructure(
    service: Service, status: int, answer: object, words: str
) -> None:
    service.status, service.answer = status, answer
    adapter = HttpAdapter(service.url, body={"q": "{prompt}"}, text="answer")
    with pytest.raises(InfrastructureError, match=words) as caught:
        await talk(adapter, "p")
    assert "\x1b" not in str(caught.value)


@pytest.mark.asyncio
async def test_a_service_that_is_gone_is_infrastructure() -> None:
    adapter = HttpAdapter("http://127.0.0.1:1/", body="{prompt}", text="")
    with pytest.raises(InfrastructureError, match=r"the agent at 127\.0\.0\.1 cannot be reached"):
        await talk(adapter, "p")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"url": "ftp://x"}, "must begin with http"),
        ({"body": {"q": "fixed"}}, "neither"),
        ({"observability": TOOLS}, "needs tool_calls"),
    ],
)
def test_an_http_adapter_refuses_what_means_nothing(arguments: dict[str, Any], words: str) -> None:
    given = {"url": "http://x", "body": "{prompt}", "text": "answer", **arguments}
    with pytest.raises(ValueError, match=words):
        HttpAdapter(**given)


# -- programs -------------------------------------------------------------------------------


def program(tmp_path: Path, text: str) -> list[str]:
    script = tmp_path / "agent.py"
    script.write_text(textwrap.dedent(text))
    return [sys.executable, str(script)]


@pytest.mark.asyncio
async def test_a_program_answers_each_prompt(tmp_path: Path) -> None:
    command = program(
        tmp_path,
        """
        import os, sys
        print("heard", sys.stdin.read(), os.environ["MOOD"])
        """,
    )
    adapter = ProcessAdapter(command, environment={"MOOD": "calm"})
    assert [r.text for r in await talk(adapter, "a; rm -rf /", "b")] == [
        "heard a; rm -rf / calm",
        "heard b calm",
    ]


@pytest.mark.asyncio
async def test_a_program_may_hold_a_conversation_in_json(tmp_path: Path) -> None:
    command = program(
        tmp_path,
        """
        import json, sys
        said = []
        for line in sys.stdin:
            said.append(json.loads(line)["prompt"])
            calls = [{"name": "note", "arguments": {"count": len(said)}}]
            print(json.dumps({"text": " ".join(said), "tool_calls": calls}), flush=True)
        """,
    )
    adapter = ProcessAdapter(command, per="session", answers="json", observability=TOOLS)
    probe = Probes.behavior(
        prompts=["a", "b"], evaluator=ResponseContains("a b") & ToolCalled("note", count=2)
    )
    result = await probe.execute_async(adapter=adapter)
    assert result.status is SafetyStatus.SAFE


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.asyncio
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at /proc")
@pytest.mark.parametrize("per", ["turn", "session"])
async def test_a_program_that_hangs_is_killed_with_its_children(tmp_path: Path, per: Any) -> None:
    command = program(
        tmp_path,
        """
        import os, pathlib, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        pathlib.Path("pids").write_text(f"{os.getpid()} {child.pid}")
        time.sleep(600)
        """,
    )
    adapter = ProcessAdapter(command, per=per, folder=tmp_path)
    probe = Probes.behavior(
        prompt="p", evaluator=ResponseContains("x"), timeouts=Timeouts(send=5.0)
    )
    running = asyncio.ensure_future(probe.execute_async(adapter=adapter))
    pids: list[int] = []
    end = time.monotonic() + 30
    while len(pids) < 2 and time.monotonic() < end:
        await asyncio.sleep(0.02)
        if (tmp_path / "pids").exists():
            pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    end = time.monotonic() + 30
    while any(map(is_running, pids)) and time.monotonic() < end:  # noqa: ASYNC110 - they set no event
        await asyncio.sleep(0.02)
    assert len(pids) == 2
    assert not any(map(is_running, pids))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("import sys; sys.exit('no \\x1b[1mkey')", {}, "ended with status 1: no"),
        ("print('x' * 10_000_100)", {}, "more than 10,000,000 bytes"),
        ("print('{')", {"answers": "json"}, "answered with no JSON"),
        ("pass", {"per": "session"}, "ended with status 0 before it had answered"),
    ],
)
async def test_what_a_program_breaks_is_infrastructure(
    tmp_path: Path, text: str, options: dict[str, Any], words: str
) -> None:
    adapter = ProcessAdapter(program(tmp_path, text), **options)
    with pytest.raises(InfrastructureError, match=words) as caught:
        await talk(adapter, "p")
    assert "\x1b" not in str(caught.value)


@pytest.mark.asyncio
async def test_a_program_that_is_not_there_is_infrastructure() -> None:
    with pytest.raises(InfrastructureError, match="cannot be started"):
        await talk(ProcessAdapter([os.sep + "no" + os.sep + "program"]), "p")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"command": "ls -l"}, TypeError),
        ({"command": []}, TypeError),
        ({"command": ["x"], "per": "day"}, ValueError),
        ({"command": ["x"], "answers": "xml"}, ValueError),
        ({"command": ["x"], "observability": TOOLS}, ValueError),
    ],
)
def test_a_process_adapter_refuses_what_means_nothing(
    arguments: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        ProcessAdapter(**arguments)
