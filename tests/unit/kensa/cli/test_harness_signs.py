"""Signs that a harness is a stand-in for the agent, and what is no such sign."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from kensa.cli.harness_signs import find_harness, suspicious_signs


def codes(source: str) -> list[str]:
    return [sign.code for sign in suspicious_signs(ast.parse(dedent(source)))]


def harness(body: str, before: str = "") -> str:
    """A conftest whose harness answers with `body`."""
    indented = "\n".join(f"        {line}" for line in dedent(body).strip().splitlines())
    return f"{dedent(before)}\n@pytest.fixture\ndef kensa_run():\n    def _run(case):\n{indented}\n    return _run\n"


@pytest.mark.parametrize(
    "answer",
    [
        'return "ok"',
        'return {"message": "hello"}',
        'return ["done", {"n": 1}]',
        "return REPLY",
        'answer = "fixed"\nreturn answer',
        'return f"You said {case.input}"',
        "return case.input",
        "return str(case.input).upper()",
        'return "yes" if "refund" in case.input.lower() else "no"',
        'with record_tool_call("look_up"):\n    return "found"',
        "pass",
    ],
)
def test_answers_that_stand_in_the_source_are_canned(answer: str) -> None:
    assert codes(harness(answer, 'REPLY = "hello"')) == ["canned-answer"]


@pytest.mark.parametrize(
    "answer",
    [
        "return agent.run(case.input)",
        "return Agent().run(case.input)",
        'reply = client.send(case.input)\nreturn {"message": reply.text}',
        'agent.handle(case.input)\nreturn {"status": "done"}',
        'text = str(case.input)\nagent.handle(text)\nreturn "done"',
        "return {**agent(case), 'source': 'test'}",
        'if not agent.ready:\n    return "not ready"\nreturn agent.answer()',
        "return [step.text for step in agent.steps(case)]",
        "return last_answer",
    ],
)
def test_a_harness_that_asks_something_is_not_suspected(answer: str) -> None:
    assert codes(harness(answer)) == []


def test_the_async_harness_is_judged_alike() -> None:
    source = """
        @pytest.fixture
        async def kensa_run(client):
            async def _run(case):
                return await client.ask(case.input)
            return _run
    """
    assert codes(source) == []
    assert codes(source.replace("await client.ask(case.input)", "'hello'")) == ["canned-answer"]


@pytest.mark.parametrize(
    ("returned", "code"),
    [
        ('lambda case: "ok"', "canned-answer"),
        ("lambda case: agent.run(case.input)", None),
        ("MagicMock()", "mock"),
        ("mock.AsyncMock(return_value='hi')", "mock"),
        ("MagicMock().run", "mock"),
        ("agent.run", None),
    ],
)
def test_a_harness_may_return_any_callable(returned: str, code: str | None) -> None:
    found = codes(f"@pytest.fixture\ndef kensa_run():\n    return {returned}\n")
    assert found == ([] if code is None else [code])


def test_a_mock_that_answers_is_a_sign_and_one_that_the_agent_uses_is_none() -> None:
    answering = harness("return agent.run(case.input)", "agent = MagicMock()")
    assert codes(answering) == ["mock"]
    used = harness("return Agent(database=database).run(case.input)", "database = MagicMock()")
    assert codes(used) == []


def test_a_class_that_answers_is_looked_into() -> None:
    source = """
        class Harness:
            def __call__(self, case):
                return "hello"

        @pytest.fixture
        def kensa_run():
            return Harness()
    """
    assert codes(source) == ["canned-answer"]
    assert codes(source.replace('"hello"', "self.agent.run(case)")) == []


def test_a_yielded_harness_is_looked_into() -> None:
    source = """
        @pytest.fixture(name="kensa_run")
        def the_harness():
            def _run(case):
                return "hello"
            yield _run
    """
    assert codes(source) == ["canned-answer"]


@pytest.mark.parametrize(
    "name", ["FakeAgent", "AgentStub", "stub_agent", "MockSupportBot", "LLMAgentMock"]
)
def test_a_stand_in_for_the_agent_is_named(name: str) -> None:
    assert codes(harness(f"return {name}().run(case.input)")) == ["replacement-agent"]


@pytest.mark.parametrize(
    "name", ["Agent", "MockServer", "FakeClock", "Fakery", "AgentStubbornness"]
)
def test_other_names_are_not_mistaken_for_stand_ins(name: str) -> None:
    assert codes(harness(f"return {name}().run(case.input)")) == []


def test_a_stand_in_that_the_harness_does_not_reach_is_none_of_our_business() -> None:
    elsewhere = "class FakeAgent:\n    def run(self, text):\n        return 'hi'\n"
    assert codes(harness("return agent.run(case.input)", elsewhere)) == []
    assert codes(harness("return agent.run(FakeAgent)", elsewhere)) == ["replacement-agent"]


@pytest.mark.parametrize("made", ["Agent.__new__(Agent)", "object.__new__(SupportAgent)"])
def test_an_agent_without_its_constructor(made: str) -> None:
    assert codes(harness(f"return {made}.run(case.input)")) == ["constructor-bypass"]


@pytest.mark.parametrize("error", ["ImportError", "ModuleNotFoundError", "(OSError, ImportError)"])
@pytest.mark.parametrize(
    "instead", ["Agent = make_one()", "class Agent: ...", "from other import Agent"]
)
def test_a_replacement_after_a_failed_import(error: str, instead: str) -> None:
    before = f"try:\n    from app import Agent\nexcept {error}:\n    {instead}\n"
    assert codes(harness("return Agent().run(case.input)", before)) == ["import-fallback"]


def test_an_optional_import_is_no_replacement() -> None:
    before = "try:\n    import dotenv\nexcept ImportError:\n    dotenv = None\n"
    assert codes(harness("return agent.run(case.input)", before)) == []


@pytest.mark.parametrize(
    "handler",
    [
        "except Exception:\n    return ''",
        "except:\n    pass",
        "except BaseException:\n    ...",
        "except (ValueError, Exception):\n    return None",
        "except Exception as error:\n    log.warning(error)",
    ],
)
def test_an_error_of_the_agent_that_is_swallowed(handler: str) -> None:
    body = f"try:\n    return agent.run(case.input)\n{handler}"
    assert codes(harness(body)) == ["swallowed-error"]


def test_suppressing_everything_swallows_too() -> None:
    assert codes(harness("with suppress(Exception):\n    return agent.run(case.input)")) == [
        "swallowed-error"
    ]


@pytest.mark.parametrize(
    "handler",
    [
        "except Exception:\n    raise",
        "except ValueError:\n    return None",
        "except Exception as error:\n    return {'error': str(error)}",
    ],
)
def test_an_error_that_is_passed_on_or_expected_is_fine(handler: str) -> None:
    assert codes(harness(f"try:\n    return agent.run(case.input)\n{handler}")) == []


@pytest.mark.parametrize(
    "text",
    [
        'case.input or "hello"',
        'case.row.get("input", "hello")',
        'case.input if case.input else "hello"',
    ],
)
def test_text_in_place_of_the_input(text: str) -> None:
    assert codes(harness(f"return agent.run({text})")) == ["invented-input"]


@pytest.mark.parametrize(
    "text", ['case.input or ""', 'settings.get("mode", "fast")', 'MODE or "fast"']
)
def test_defaults_that_are_no_input_are_fine(text: str) -> None:
    assert codes(harness(f"return agent.run(case.input, {text})")) == []


def test_a_placeholder_says_so() -> None:
    assert codes(harness('raise NotImplementedError("connect your agent")')) == ["placeholder"]


def test_a_coverage_option_that_is_only_declared() -> None:
    before = 'def pytest_addoption(parser):\n    parser.addoption("--cov", action="store")\n'
    assert codes(harness("return agent.run(case.input)", before)) == ["coverage-shim"]


def test_helpers_and_other_fixtures_may_return_constants() -> None:
    source = harness(
        "return agent.run(case.input, status=_status(case))",
        """
        def _status(message):
            return "open"

        @pytest.fixture
        def ticket(message):
            try:
                return "T-1"
            except Exception:
                pass
        """,
    )
    assert codes(source) == []


def test_signs_name_their_line_in_order() -> None:
    source = harness('try:\n    x()\nexcept Exception:\n    pass\nreturn case.input or "hi"')
    signs = suspicious_signs(ast.parse(source))
    assert [sign.line for sign in signs] == sorted(sign.line for sign in signs)
    assert {sign.code for sign in signs} == {"swallowed-error", "invented-input", "canned-answer"}


def test_without_a_harness_there_is_nothing_to_judge() -> None:
    module = ast.parse("class FakeAgent: ...")
    assert find_harness(module) is None
    assert suspicious_signs(module) == ()
