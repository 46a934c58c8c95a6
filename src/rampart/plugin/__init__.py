"""The pytest plugin of the safety face: markers, automatic collection, summary and sinks."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from rampart.plugin.face import SafetyFace, harm_categories
from rampart.plugin.sink_relay import SinkCourier, SinkRelay
from seatrial.errors import UsageError
from seatrial.plugin.faces import require_engine
from seatrial.plugin.keys import run_key

if TYPE_CHECKING:
    from seatrial.run import Run

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
    if hasattr(config, "workerinput") or getattr(config.option, "tx", None):
        config.pluginmanager.register(SinkCourier(config, relay), "rampart-sink-courier")


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


@pytest.hookimpl(optionalhook=True)
def pytest_seatrial_run_finished(config: pytest.Config, run: Run) -> list[str]:
    """Give the run's report to every sink of the project."""
    from rampart.safety_records import has_safety_tests

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
    if run is None:
        return result
    from rampart.safety_records import has_safety_tests

    if has_safety_tests(run):
        from rampart.run_views import summary_of

        terminalreporter.ensure_newline()
        lines = summary_of(run, strict=bool(config.getini("rampart_strict")))
        terminalreporter.write_line("\n".join(lines))
    return result
