"""What each process contributes to finding report sinks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

__all__ = ["DEPRECATED", "SinkCourier", "SinkRelay"]

_FIXTURE = "rampart_sinks"
_ATTRIBUTE = "rampart_sink_conftests"
_PROBE = "_rampart_sinks_probe"
DEPRECATED = (
    "the rampart_sinks fixture is deprecated and will be removed in 0.3.0; implement the"
    " pytest_rampart_sinks hook in conftest.py instead"
)
"""What is said of the fixture wherever one is used."""


class SinkRelay:
    """Keeps what is found of sinks while the session runs: the fixture's value, and conftests."""

    def __init__(self, config: pytest.Config) -> None:
        """Serve the process whose configuration this is."""
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._fixture_defined = False
        self.fixture_values: list[object] = []
        """What `rampart_sinks` returned to the first test of this process that set it up."""
        self.conftests: set[str] = set()
        """Conftest files in which workers found sinks."""

    def pytest_plugin_registered(self, plugin: object) -> None:
        """Note whether the project defines the deprecated fixture outside of its test modules."""
        self._fixture_defined = self._fixture_defined or hasattr(plugin, _FIXTURE)

    # A fixture can only be set up by a test that sees it: every test asks for it, if the project
    # has one at all. At this point, since pytest forgets what is added to a test's fixtures
    # before it parametrizes it.
    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Let tests set up the deprecated fixture, where one is defined."""
        if self._is_worker or not isinstance(item, pytest.Function):
            return
        defined = (
            self._fixture_defined or hasattr(item.module, _FIXTURE) or hasattr(item.cls, _FIXTURE)
        )
        if defined and _PROBE not in item.fixturenames:  # trials of one test share the list
            item.fixturenames.append(_PROBE)

    @pytest.fixture(name=_PROBE)
    def _probe(self, request: pytest.FixtureRequest) -> None:
        """Set up `rampart_sinks` if this test sees it, and no hook makes it idle."""
        if self._config.hook.pytest_rampart_sinks.get_hookimpls():
            return
        try:
            value = request.getfixturevalue(_FIXTURE)
        except pytest.FixtureLookupError:
            return
        if not self.fixture_values:
            self.fixture_values.append(value)
            warnings.warn(DEPRECATED, DeprecationWarning, stacklevel=1)


class SinkCourier:
    """Tells xdist's controlling process in which conftests workers found sinks."""

    def __init__(self, config: pytest.Config, relay: SinkRelay) -> None:
        """Serve the process whose configuration this is."""
        self._config = config
        self._relay = relay
        self._is_worker = hasattr(config, "workerinput")
        self._told = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Send from workers, and keep in the controlling process, where sinks are defined."""
        if not self._is_worker:
            self._relay.conftests.update(report.__dict__.pop(_ATTRIBUTE, ()))
        elif not self._told:
            self._told = True
            setattr(report, _ATTRIBUTE, list(self._own_conftests()))

    def _own_conftests(self) -> Iterator[str]:
        for plugin in self._config.pluginmanager.get_plugins():
            path = getattr(plugin, "__file__", None) or ""
            if path.endswith("conftest.py") and (
                hasattr(plugin, "pytest_rampart_sinks") or hasattr(plugin, _FIXTURE)
            ):
                yield path
