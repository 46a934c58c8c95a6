"""What a session asked of models, what that cost, and the limit on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pydantic_ai.direct
import pydantic_ai.models.openai  # noqa: F401
import pytest

import seatrial.models.cached
import seatrial.models.client
import seatrial.models.prices
import seatrial.models.retries  # noqa: F401
from seatrial import codec
from seatrial.journal import read_journal
from seatrial.testing import ErrorReply, ModelServer, ReceivedRequest, Reply, StructuredReply
from seatrial.trial import Amendment, TrialRecord

EvalTests = Callable[..., None]

KEY = "sk-planted-0123456789abcdef"
READ, WRITTEN = 1_000_000, 100_000
COST_USD = READ * 0.15e-6 + WRITTEN * 0.60e-6
"""Of one judgement: $0.21 by the prices of gpt-4o-mini."""

VERDICT = StructuredReply(
    {"reasoning": "said so", "evidence": [], "passed": True},
    input_tokens=READ,
    output_tokens=WRITTEN,
)


def answer(request: ReceivedRequest) -> Reply:
    """A verdict, unless the question asks for trouble."""
    asked = "\n".join(message.text for message in request.messages)
    if "trouble" in asked:
        return ErrorReply(status=401, message=f"no such key: {KEY}")
    return VERDICT if request.tools else StructuredReply("done", input_tokens=7, output_tokens=5)


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """The provider of all inner sessions; it lives in this process."""
    with ModelServer(answer=answer) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("KENSA_JUDGE_MODEL", "openai:gpt-4o-mini")
        yield running


def journal(pytester: pytest.Pytester) -> list[TrialRecord | Amendment]:
    """The records and amendments that the last session left in its journal."""
    path = max(
        pytester.path.glob(".pytest_cache/d/seatrial-runs/*/journal.jsonl"),
        key=lambda path: path.stat().st_mtime_ns,
    )
    loaders: dict[str, Callable[[str], TrialRecord | Amendment]] = {
        "trial": codec.load_record,
        "amendment": codec.load_amendment,
    }
    texts = read_journal(path).documents
    kinds = [(json.loads(text)["kind"], text) for text in texts]
    return [loaders[kind](text) for kind, text in kinds if kind in loaders]


def records(pytester: pytest.Pytester) -> list[TrialRecord]:
    return [part for part in journal(pytester) if isinstance(part, TrialRecord)]


# -- what is said at the end --------------------------------------------------------------

ASKING = """
    from kensa.tracing import record_llm_call
    from seatrial.models import ask_text

    @pytest.mark.kensa(trials=2)
    def test_asks(request):
        trial = request.node.name[-2]
        assert judge("the same", "polite").passed
        assert judge(f"one of {trial}", "polite").passed
        assert judge(f"trouble {trial}", "polite").error
        ask_text(system="", user="x", purpose="generator", model="openai:a-model-of-ours")
        with record_llm_call(provider="openai", model="gpt-4o-mini", **{"kensa.cost_usd": 0.5}):
            pass
        with record_llm_call(
            provider="openai",
            model="gpt-4o-mini",
            **{"gen_ai.usage.input_tokens": 2_000_000, "gen_ai.usage.output_tokens": 1_000},
        ):
            pass
    """


@pytest.mark.parametrize("options", [(), ("--trial-concurrency=2",)], ids=["serial", "K=2"])
def test_the_summary_says_what_each_purpose_took(
    eval_tests: EvalTests, pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    eval_tests(ASKING)

    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--seatrial-no-cache", *options)

    lines = [line for line in result.outlines if line.startswith("models, ")]
    assert sorted(lines) == [
        "models, agent: 4 calls, 4,000,000 tokens in, 2,000 out, $1.6012",
        "models, generator: 2 calls, 14 tokens in, 10 out, unknown price",
        "models, judge: 6 calls (2 failed), 4,000,000 tokens in, 400,000 out, $0.8400",
    ]


def test_a_stored_judgement_costs_nothing_and_is_counted_as_one(
    eval_tests: EvalTests, pytester: pytest.Pytester, server: ModelServer
) -> None:
    eval_tests("""
        @pytest.mark.kensa(trials=3)
        def test_asks():
            result = judge("the same", "polite")
            print("CACHED", result.metadata.get("cached"))
        """)

    result = pytester.runpytest_inprocess("-s")

    assert len(server.requests) == 1
    result.stdout.fnmatch_lines(
        ["models, judge: 3 calls (2 stored), 1,000,000 tokens in, 100,000 out, $0.2100"]
    )
    assert [text for text in result.outlines if "CACHED" in text] == [
        "test_e.py CACHED None",
        ".CACHED True",
        ".CACHED True",
    ]

    result = pytester.runpytest_inprocess("--seatrial-no-cache")

    assert len(server.requests) == 4
    result.stdout.fnmatch_lines(["models, judge: 3 calls, 3,000,000 tokens in, *, $0.6300"])


def test_a_price_known_in_part_is_more_than_that(
    eval_tests: EvalTests, pytester: pytest.Pytester
) -> None:
    eval_tests("""
        from seatrial.panel import Panel

        @pytest.mark.kensa
        def test_asks():
            judge("out", "polite", panel=Panel(models=("openai:gpt-4o-mini", "openai:ours")))
        """)

    result = pytester.runpytest_inprocess()

    result.stdout.fnmatch_lines(["models, judge: 2 calls, *, more than $0.2100"])


def test_a_session_that_asks_no_model_says_nothing_of_them(
    eval_tests: EvalTests, pytester: pytest.Pytester
) -> None:
    eval_tests("""
        @pytest.mark.kensa
        def test_asks_nobody(): pass
        """)

    result = pytester.runpytest_inprocess("--seatrial-max-cost-usd=1")

    assert result.ret == 0
    assert "models, " not in result.stdout.str()


# -- what the journal keeps ---------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("-n2",)], ids=["one process", "workers"])
def test_each_record_has_its_own_calls(
    eval_tests: EvalTests, pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    if options:
        pytest.importorskip("xdist")
    eval_tests("""
        @pytest.mark.kensa(trials=2)
        def test_asks(request):
            for number in range(int(request.node.name[-2])):
                judge(f"{request.node.name} {number}", "polite")
        """)

    run = pytester.runpytest_subprocess if options else pytester.runpytest_inprocess
    result = run(*options)

    assert result.ret == 0
    found = {record.nodeid[-7:-1]: record.model_calls for record in records(pytester)}
    assert {name: len(calls) for name, calls in found.items()} == {"trial1": 1, "trial2": 2}
    (call,) = found["trial1"]
    assert isinstance(call["duration_s"], float)
    assert {**call, "duration_s": 0} == {
        "purpose": "judge",
        "provider": "openai",
        "model": "gpt-4o-mini",
        "input_tokens": READ,
        "output_tokens": WRITTEN,
        "cost_usd": pytest.approx(COST_USD),
        "attempts": 1,
        "duration_s": 0,
        "failed": None,
    }
    result.stdout.fnmatch_lines(["models, judge: 3 calls, 3,000,000 tokens in, *, $0.6300"])


def test_what_fixtures_ask_counts_too_and_tear_downs_calls_come_by_amendment(
    eval_tests: EvalTests, pytester: pytest.Pytester
) -> None:
    eval_tests("""
        @pytest.fixture
        def asking():
            judge("set-up", "polite")
            yield
            judge("tear-down", "polite")
            judge("trouble in tear-down", "polite")

        @pytest.mark.kensa
        def test_asks(asking): judge("body", "polite")
        """)

    result = pytester.runpytest_inprocess()

    record, amendment = journal(pytester)
    assert isinstance(record, TrialRecord)
    assert isinstance(amendment, Amendment)
    assert [call["failed"] for call in record.model_calls] == [None, None]
    assert [call["failed"] for call in amendment.model_calls] == [None, "status"]
    assert len(record.amended(amendment).model_calls) == 4
    result.stdout.fnmatch_lines(["models, judge: 4 calls (1 failed), *, $0.6300"])


def test_a_trial_that_fails_in_its_set_up_is_billed_all_the_same(
    eval_tests: EvalTests, pytester: pytest.Pytester
) -> None:
    eval_tests("""
        @pytest.fixture
        def broken():
            judge("set-up", "polite")
            raise OSError("no database")

        @pytest.mark.kensa
        def test_never_begins(broken): pass
        """)

    result = pytester.runpytest_inprocess()

    assert result.ret == 1
    (record,) = records(pytester)
    assert len(record.model_calls) == 1
    result.stdout.fnmatch_lines(["models, judge: 1 call, *, $0.2100"])


# -- the limit ----------------------------------------------------------------------------

COSTLY = """
    @pytest.mark.kensa(trials=40)
    def test_costs(request): assert judge(request.node.name, "polite").passed
    """
COSTLY_ASYNC = """
    from kensa.pytest import judge_async

    @pytest.mark.kensa(trials=40)
    async def test_costs(request): assert (await judge_async(request.node.name, "polite")).passed
    """
LIMIT = "--seatrial-max-cost-usd=0.6"  # three judgements reach it


def assert_stopped(result: pytest.RunResult, pytester: pytest.Pytester) -> None:
    """The run says that it stopped and why, and has billed what its trials asked."""
    ended = [record for record in records(pytester) if not record.cancelled]
    calls = [call for record in records(pytester) for call in record.model_calls]
    cut_short = [call for call in calls if call["failed"]]
    assert {call["failed"] for call in cut_short} <= {"cut short"}
    failed = f" ({len(cut_short)} failed)" if cut_short else ""
    spent = (len(calls) - len(cut_short)) * COST_USD
    cost = f"more than ${spent:.4f}" if cut_short else f"${spent:.4f}"
    result.stdout.fnmatch_lines(
        [
            f"PARTIAL test_e.py::test_costs: {len(ended)}/{len(ended)} passed, 0 failed, 0 errored",
            f"models, judge: {len(calls)} calls{failed}, * tokens in, * out, {cost}",
            "INCOMPLETE RUN: its verdicts do not cover everything that was planned",
            "  - the cost limit of $0.6 is reached: $0.6300 spent",
            f"  - {40 - len(ended)} planned trials never ended (the cost limit of $0.6 is reached*",
        ]
    )


def test_once_the_limit_is_spent_no_trial_begins(
    eval_tests: EvalTests, pytester: pytest.Pytester, server: ModelServer
) -> None:
    eval_tests(COSTLY)

    result = pytester.runpytest_inprocess(LIMIT)

    assert result.ret == 1
    assert len(server.requests) == 3
    assert_stopped(result, pytester)


@pytest.mark.parametrize("suite", [COSTLY, COSTLY_ASYNC], ids=["sync", "async"])
def test_trials_in_flight_are_cancelled_and_no_other_begins(
    eval_tests: EvalTests, pytester: pytest.Pytester, server: ModelServer, suite: str
) -> None:
    eval_tests(suite)

    result = pytester.runpytest_inprocess(LIMIT, "--trial-concurrency=10")

    assert result.ret == 1
    assert 3 <= len(server.requests) <= 12  # nine beside the third, and who began before it ended
    assert_stopped(result, pytester)


@pytest.mark.parametrize(
    "options",
    [(), ("--dist=worksteal",), ("--dist=loadgroup",), ("--trial-concurrency=3",)],
    ids=["load", "worksteal", "loadgroup", "K=3"],
)
def test_workers_begin_no_other_trial_either(
    eval_tests: EvalTests,
    pytester: pytest.Pytester,
    server: ModelServer,
    options: tuple[str, ...],
) -> None:
    pytest.importorskip("xdist")
    eval_tests(COSTLY)

    result = pytester.runpytest_subprocess(LIMIT, "-n2", *options)

    ran = len(server.requests)
    assert 3 <= ran <= 15, result.stdout.str()
    assert result.ret == pytest.ExitCode.INTERRUPTED  # as with xdist's -x
    assert_stopped(result, pytester)


def test_the_agents_own_turns_count_towards_the_limit(
    eval_tests: EvalTests, pytester: pytest.Pytester
) -> None:
    eval_tests("""
        from kensa.tracing import record_llm_call

        @pytest.mark.kensa(trials=10)
        def test_costs():
            tokens = {"gen_ai.usage.input_tokens": 1_000_000, "gen_ai.usage.output_tokens": 100_000}
            with record_llm_call(provider="openai", model="gpt-4o-mini", **tokens): pass
            with record_llm_call(provider="openai", model="ours", **tokens): pass
        """)

    result = pytester.runpytest_inprocess("--seatrial-max-cost-usd", "0.4")

    assert result.ret == 1
    reason = "the cost limit of $0.4 is reached: $0.4200 spent, and 2 calls of unknown price"
    result.stdout.fnmatch_lines(
        [
            "models, agent: 4 calls, 4,000,000 tokens in, 400,000 out, more than $0.4200",
            f"  - {reason}",
            f"  - 8 planned trials never ended ({reason})*",
        ]
    )


def test_a_limit_that_the_last_trial_reaches_fails_the_run_too(
    eval_tests: EvalTests, pytester: pytest.Pytester
) -> None:
    eval_tests("""
        @pytest.mark.kensa
        def test_costs(): assert judge("out", "polite").passed
        """)

    result = pytester.runpytest_inprocess("--seatrial-max-cost-usd=0.2")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["  - the cost limit of $0.2 is reached: $0.2100 spent"])


def test_a_session_that_stays_below_its_limit_passes(
    eval_tests: EvalTests, pytester: pytest.Pytester
) -> None:
    eval_tests("""
        @pytest.mark.kensa(trials=2)
        def test_costs(request): assert judge(request.node.name, "polite").passed
        """)

    result = pytester.runpytest_inprocess("--seatrial-max-cost-usd=0.43")

    assert result.ret == 0
    assert "INCOMPLETE" not in result.stdout.str()


def test_the_configuration_file_can_set_the_limit_and_the_command_line_beats_it(
    eval_tests: EvalTests, pytester: pytest.Pytester
) -> None:
    eval_tests(COSTLY)
    pytester.makeini("[pytest]\nseatrial_max_cost_usd = 0.6\n")

    stopped = pytester.runpytest_inprocess()
    assert_stopped(stopped, pytester)
    passed = pytester.runpytest_inprocess("--seatrial-max-cost-usd=100")

    assert (stopped.ret, passed.ret) == (1, 0)


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1 USD", "", "$1"])
@pytest.mark.parametrize("where", ["--seatrial-max-cost-usd", "seatrial_max_cost_usd"])
def test_a_limit_that_is_no_amount_is_one_usage_error(
    eval_tests: EvalTests, pytester: pytest.Pytester, where: str, value: str
) -> None:
    eval_tests(COSTLY)
    options = [f"{where}={value}"] if where.startswith("-") else ["-o", f"{where}={value}"]

    result = pytester.runpytest_inprocess(*options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert (
        line == f"ERROR: {where}='{value}', expected a positive finite amount of USD, such as 2.50"
    )


# -- what nothing may keep ----------------------------------------------------------------


def test_no_artifact_and_no_report_holds_a_key(
    eval_tests: EvalTests, pytester: pytest.Pytester, tmp_path: Path
) -> None:
    eval_tests("""
        @pytest.mark.kensa(trials=2)
        def test_asks():
            assert judge("out", "polite").passed
            judge("trouble", "polite").require()
        """)

    result = pytester.runpytest_inprocess(
        "--kensa-write-artifacts", "--junitxml=junit.xml", "-ra", "-l", "--log-level=DEBUG"
    )

    result.assert_outcomes(failed=2)
    assert "no such key: [OPENAI_API_KEY]" in result.stdout.str()
    written = [path for path in pytester.path.rglob("*") if path.is_file()]
    assert {".kensa", "junit.xml", ".pytest_cache"} <= {
        path.relative_to(pytester.path).parts[0] for path in written
    }
    assert KEY not in result.stdout.str() + result.stderr.str()
    assert not [path for path in written if KEY.encode() in path.read_bytes()]


# -- trouble with the judge's model -------------------------------------------------------

TROUBLED = {
    "result": "result = judge('trouble', 'polite')\n    assert result.passed, result.reasoning",
    "call": "assert judge('trouble', 'polite').passed",
    "require": "judge('trouble', 'polite').require()",
    "nothing asserted": "judge('trouble', 'polite')",
}


@pytest.mark.parametrize("options", [(), ("--trial-concurrency=4",)], ids=["serial", "K=4"])
@pytest.mark.parametrize("body", TROUBLED.values(), ids=TROUBLED.keys())
def test_trouble_with_the_model_is_the_judges_and_never_the_agents(
    eval_tests: EvalTests, pytester: pytest.Pytester, body: str, options: tuple[str, ...]
) -> None:
    awaited = body.replace("judge('", "(await judge_async('").replace("polite')", "polite'))")
    eval_tests(
        f"""
from kensa.pytest import judge_async

@pytest.mark.kensa(trials=2)
def test_sync():
    {body}

@pytest.mark.kensa(trials=2)
async def test_sync_in_async():
    {body}

@pytest.mark.kensa(trials=2)
async def test_awaited():
    {awaited}
"""
    )

    result = pytester.runpytest_inprocess(*options)

    assert result.ret == 1
    found = records(pytester)
    assert len(found) == 6
    for record in found:
        assert record.failure is not None, record.nodeid
        assert (record.outcome, record.failure.owner) == ("error", "judge"), record.nodeid
        assert record.judgements[0]["error"] is True
        assert "no such key" in record.failure.message
