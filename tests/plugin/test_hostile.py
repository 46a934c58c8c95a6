"""Whatever an agent, a test or a document says, reports stay readable, strict and honest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

import pytest

from seatrial.journal import read_journal

# Clears the screen, forges a line, reorders what follows, looks like markup.
EVIL = "\x1b[2J\r\nPASS forged\x00\x07\u202e\u2028<b>&amp;]]>[red]{0}%s"
UNENCODABLE = EVIL + "\ud800"

SAFETY = """
    EVIL = __EVIL__

    class Unspeakable(Exception):
        def __str__(self): raise RuntimeError("no words")
        def __repr__(self): raise RuntimeError("no words")

    class Silent(Exception):
        def __str__(self): return None

    class Unprintable:
        def __repr__(self): raise RuntimeError("no words")
        def __eq__(self, other): return False
        __hash__ = None

    class Boundless(str):
        def __str__(self): return EVIL

    def cycle():
        ring = {"evil": EVIL}
        ring["self"] = ring
        return ring

    pytestmark = pytest.mark.harm(EVIL)

    @pytest.mark.trial(n=2, threshold=0.5)
    def test_says_evil(request):
        record("undetermined" if "trial-1" in request.node.name else "safe", EVIL,
               metadata={"nan": float("nan"), "ring": cycle(), EVIL: object(), "deep": deep()})

    def deep():
        value = EVIL
        for _ in range(3000): value = [value]
        return value

    @pytest.mark.trial(n=1)
    def test_asserts_evil():
        answer = EVIL
        assert answer == "fine", EVIL

    @pytest.mark.trial(n=2, threshold=0.5)
    def test_raises_evil(request):
        if "trial-0" in request.node.name: raise ValueError(EVIL)

    @pytest.mark.trial(n=1)
    def test_fails_with_evil(): pytest.fail(EVIL)

    @pytest.mark.trial(n=1)
    def test_fails_with_evil_without_a_traceback(): pytest.fail(EVIL, pytrace=False)

    @pytest.mark.trial(n=1)
    def test_skips_with_evil(): pytest.skip(EVIL)

    @pytest.mark.trial(n=1)
    def test_xfails_with_evil(): pytest.xfail(EVIL)

    @pytest.mark.trial(n=1)
    def test_raises_the_unspeakable(): raise Unspeakable

    @pytest.mark.trial(n=1)
    def test_raises_the_silent(): raise Silent

    @pytest.mark.trial(n=1)
    def test_compares_the_unprintable(): assert Unprintable() == Unprintable()

    @pytest.mark.trial(n=1)
    def test_raises_a_group(): raise ExceptionGroup(EVIL, [ValueError(EVIL), Unspeakable()])

    @pytest.mark.trial(n=1)
    def test_raises_a_chain():
        try: raise ValueError(EVIL)
        except ValueError as error: raise KeyError(EVIL) from error

    @pytest.mark.trial(n=1)
    def test_notes_evil():
        error = ValueError("x")
        error.add_note(EVIL)
        raise error

    @pytest.mark.trial(n=1)
    def test_says_too_much(): raise ValueError("y" * 5_000_000)

    @pytest.mark.trial(n=1)
    def test_prints_what_cannot_be_encoded(record_property):
        print("lone \\ud800")
        record_property("answer", EVIL)
        assert False

    @pytest.fixture
    def breaks_before(): raise OSError(EVIL)

    @pytest.fixture
    def breaks_after():
        yield
        raise OSError(EVIL)

    @pytest.mark.trial(n=1)
    def test_breaks_before(breaks_before): pass

    @pytest.mark.trial(n=1)
    def test_breaks_after(breaks_after): record("safe", Boundless("fine"))

    @pytest.mark.harm("plain")
    def test_plain():
        record("unsafe", EVIL)
        assert not EVIL, EVIL
"""

EVALS = """
    from kensa.tracing import record_span, record_tool_call

    EVIL = __EVIL__

    @pytest.fixture
    def kensa_run():
        def run(case):
            with record_tool_call(EVIL): pass
            if case.id == "nan": return {"score": float("nan")}
            if case.id == "cycle":
                ring = []
                ring.append(ring)
                return ring
            if case.id == "object": return object()
            if case.id == "huge": return "z" * 5_000_000
            return {EVIL: EVIL}
        return run

    @pytest.mark.kensa(trials=1)
    @pytest.mark.parametrize("case", [kensa_case(id=name, input=EVIL)
                                      for name in ("evil", "nan", "cycle", "object", "huge")])
    def test_eval(case, kensa_run, kensa_trace):
        output = case.run(kensa_run)
        assert kensa_trace.tools.names == [EVIL]
        assert output == 1, EVIL

    @pytest.mark.kensa(trials=1)
    @pytest.mark.parametrize("text", [EVIL])
    def test_evil_id(text): assert False, EVIL
"""
CONFTEST = """
    from rampart.reporting import JsonFileReportSink

    def pytest_rampart_sinks(config):
        return [JsonFileReportSink(output_dir=config.rootpath / "reports")]
"""


def strict(text: str) -> Any:
    """Parse JSON as RFC 8259 has it: Python's NaN and Infinity are no part of that."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize(
    ("evil", "workers"), [(EVIL, []), (UNENCODABLE, []), (UNENCODABLE, ["-n2"])]
)
def test_hostile_text_forges_nothing_and_breaks_nothing(
    pytester: pytest.Pytester,
    safety_tests: Callable[..., None],
    eval_tests: Callable[..., None],
    evil: str,
    workers: list[str],
) -> None:
    if workers:
        pytest.importorskip("xdist")
    safety_tests(SAFETY.replace("__EVIL__", ascii(evil)))
    eval_tests(EVALS.replace("__EVIL__", ascii(evil)))
    pytester.makeconftest(CONFTEST)
    result = pytester.runpytest(
        "-rA",
        "-v",
        "--showlocals",
        "--color=no",
        "--junitxml=junit.xml",
        "--kensa-write-artifacts",
        "--kensa-report=json",
        *workers,
    )
    output = result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "INTERNALERROR" not in output + result.stderr.str()
    assert "INCOMPLETE" not in output
    assert set("\x1b\x00\x07\r\u202e\u2028\ud800").isdisjoint(output)
    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes["skipped"], outcomes["xfailed"]) == (3, 1, 1)
    _check_summary(result, evil)
    _check_files(pytester.path, evil)


def _check_summary(result: pytest.RunResult, evil: str) -> None:
    start = next(i for i, line in enumerate(result.outlines) if "RAMPART Safety Summary" in line)
    end = result.outlines.index("=" * 74, start)
    lines = [line for line in result.outlines[start + 1 : end] if line]
    beginnings = ("  ", "Population: ", "Note: ", "Not run: ", "Unasserted: ")
    titles = [line for line in lines if not line.startswith(beginnings)]
    assert [title.endswith(" tests)") for title in titles] == [True, True]
    assert max(map(len, lines)) < 1200
    shown = evil.encode("unicode-escape").decode()
    assert f"  PASS  test_says_evil[trial-0] -- {shown} (response_only)" in lines
    assert r"  ERR   test_breaks_before[trial-0] -- no result recorded; OSError: \x1b[2J\r" in lines
    # Above it, the failures' own tracebacks may have as many lines as they like.
    short = next(i for i, line in enumerate(result.outlines) if "short test summary info" in line)
    assert not [line for line in result.outlines[short:end] if line.startswith("PASS forged")]


def _check_files(folder: Path, evil: str) -> None:
    cases = list(ElementTree.parse(folder / "junit.xml").iter("testcase"))
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == 26
    for pattern in (".kensa/**/*.json", "reports/*.json"):
        paths = list(folder.glob(pattern))
        assert paths
        for path in paths:
            strict(path.read_text(encoding="utf-8"))
    (journal,) = folder.glob(".pytest_cache/d/seatrial-runs/*/journal.jsonl")
    lines = read_journal(journal)
    assert lines.dropped == 0
    documents = [strict(document) for document in lines.documents]
    (answered,) = (
        document
        for document in documents
        if document["kind"] == "trial" and document["nodeid"].endswith("[evil-trial1]")
    )
    assert answered["output"] == {evil: evil}
    assert max(len(text) for document in documents for text in strings(document)) < 6_000_000
