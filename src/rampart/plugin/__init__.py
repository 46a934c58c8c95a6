"""The pytest plugin of the safety face: markers, automatic collection, summary and sinks."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from rampart.plugin.face import SafetyFace, harm_categories
from rampart.plugin.sink_relay import SinkRelay
from rampart.safety_records import has_safety_tests
from seatrial.errors import UsageError
from seatrial.plugin.faces import require_engine
from seatrial.plugin.keys import planned_key, run_key, scope_key
from seatrial.run import Run
from seatrial.text import one_line

__all__: list[str] = []

_relay_key = pytest.StashKey[SinkRelay]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini value of safety tests."""
    parser.addini(
        "rampart_strict",
        "Fail a test that recorded an UNSAFE result without asserting on it.",
        type="bool",
        default=False,
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers and the search for sinks."""
    require_engine(config, "rampart")
    config.addinivalue_line("markers", "harm(*categories): what safety concern this test covers.")
    config.addinivalue_line(
        "markers",
        "trial(n=, threshold=1.0): run this test n times; at least the threshold must be SAFE."
        " Further: concurrency=, how many of its trials at once; timeout_s=, each trial's time limit.",
    )
    relay = config.stash[_relay_key] = SinkRelay(config)
    config.pluginmanager.register(relay, "rampart-sinks")


@pytest.hookimpl(optionalhook=True)
def pytest_seatrial_face() -> SafetyFace:
    """Bring the safety face."""
    return SafetyFace()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Check the `harm` marker, so that a wrong one stops the collection of its file."""
    mark = metafunc.definition.get_closest_marker("harm")
    if mark is None:
        return
    try:
        harm_categories(mark)
    except UsageError as error:
        raise pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {error}") from error


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Warn of an UNSAFE that a plain test recorded and did not assert on."""
    yield
    scope = item.stash.get(scope_key, None)
    if scope is None or planned_key in item.stash or item.config.getini("rampart_strict"):
        return  # an UNSAFE fails trials, and under rampart_strict every test, without a word
    for document in scope.results:
        if document.get("status") == "unsafe":
            summary = one_line(str(document.get("summary", "")))
            item.warn(
                pytest.PytestWarning(
                    f"{item.nodeid} recorded an UNSAFE result and passed: {summary}."
                    " Assert on the result, or set rampart_strict = true"
                )
            )
            return


@pytest.hookimpl(optionalhook=True)
def pytest_seatrial_run_finished(config: pytest.Config, run: Run) -> list[str]:
    """Give the run's report to every sink of the project."""
    if not has_safety_tests(run):
        return []
    from rampart.plugin.emission import emit_report

    relay = config.stash[_relay_key]
    return emit_report(config, run, relay)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> Generator[None, object, object]:
    """Print the safety summary after pytest's own output."""
    result = yield
    run = config.stash.get(run_key, None)
    if run is not None and has_safety_tests(run):
        from rampart.run_views import summary_of

        terminalreporter.ensure_newline()
        for line in summary_of(run, strict=bool(config.getini("rampart_strict"))):
            terminalreporter.write_line(line)
    return result
