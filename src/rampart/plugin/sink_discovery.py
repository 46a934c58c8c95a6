"""Finding a project's report sinks: the hook first, the deprecated fixture without it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

from rampart.core.errors import describe_error
from rampart.plugin.sink_relay import DEPRECATED
from rampart.reporting import ReportSink

__all__ = ["SinkDiscovery", "discover_sinks", "load_conftests"]

_HOOK = "pytest_rampart_sinks"
_FIXTURE = "rampart_sinks"


@dataclass(slots=True)
class SinkDiscovery:
    """What was found: sinks, and what is wrong.

    Attributes:
        problems: Definitions that are wrong, a sentence each; they fail the session.
        warnings: About definitions that are deprecated, or cannot be used here.
    """

    sinks: list[ReportSink] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)

    def add(self, value: object, where: str) -> None:
        """Take what a definition returned."""
        if not isinstance(value, (list, tuple)):
            self.problems.append(
                f"{where} must return a list of report sinks, got {type(value).__name__}"
            )
            return
        for sink in value:
            if isinstance(sink, ReportSink):
                self.sinks.append(sink)
            else:
                self.problems.append(
                    f"{where} returned {type(sink).__name__}, which is not a report sink:"
                    " it has no emit_async(report)"
                )


def discover_sinks(config: pytest.Config, fixture_values: Iterable[object]) -> SinkDiscovery:
    """All sinks of the project.

    Any implementation of the hook is authoritative: fixtures are then not looked at.

    Args:
        config: The configuration of the controlling process.
        fixture_values: What the `rampart_sinks` fixture gave during the run, if it was set up.
    """
    found = SinkDiscovery()
    implementations = config.hook.pytest_rampart_sinks.get_hookimpls()
    for implementation in implementations:
        where = f"{_HOOK} in {_file_of(implementation.plugin)}"
        arguments = {"config": config} if "config" in implementation.argnames else {}
        try:
            value = implementation.function(**arguments)
        except Exception as error:  # noqa: BLE001 - the project's own code: one must not stop the others
            found.problems.append(f"{where} raised {describe_error(error)}")
        else:
            found.add(value, where)
    if implementations:
        return found
    for value in fixture_values:
        found.add(value, f"the fixture {_FIXTURE}")
    if _has_workers(config):
        _add_from_modules(config, found)
    return found


def _has_workers(config: pytest.Config) -> bool:
    return bool(getattr(config.option, "tx", None)) and config.option.dist != "no"


def _add_from_modules(config: pytest.Config, found: SinkDiscovery) -> None:
    """Xdist's controlling process sets up no fixtures, so it looks at the definitions."""
    for plugin in config.pluginmanager.get_plugins():
        if not isinstance(plugin, ModuleType) or not hasattr(plugin, _FIXTURE):
            continue
        definition = getattr(plugin, _FIXTURE)
        where = f"{_FIXTURE} in {_file_of(plugin)}"
        if isinstance(definition, (list, tuple)):
            found.add(definition, where)
            continue
        found.warnings.append(DeprecationWarning(f"{where}: {DEPRECATED}"))
        function = inspect.unwrap(definition)
        if not callable(function) or inspect.signature(function).parameters:
            found.warnings.append(
                pytest.PytestWarning(
                    f"{where} depends on other fixtures and cannot be set up with xdist;"
                    f" implement the {_HOOK} hook instead"
                )
            )
            continue
        try:
            value = function()
            found.add(next(value) if inspect.isgenerator(value) else value, where)
        except Exception as error:  # noqa: BLE001 - the project's own code
            found.problems.append(f"{where} raised {describe_error(error)}")


def _file_of(plugin: object) -> str:
    return str(getattr(plugin, "__file__", None) or plugin)


def load_conftests(config: pytest.Config, paths: Iterable[str]) -> list[str]:
    """Load the conftest files that a worker found sinks in and this process has not loaded.

    Returns:
        What could not be loaded, a sentence each.
    """
    problems = []
    loaded = {_file_of(plugin) for plugin in config.pluginmanager.get_plugins()}
    for path in sorted(set(paths) - loaded):
        try:
            # pytest has no public way to load a conftest that it did not come across itself.
            config.pluginmanager._importconftest(  # noqa: SLF001
                Path(path),
                importmode=config.getoption("importmode"),
                rootpath=config.rootpath,
                consider_namespace_packages=config.getini("consider_namespace_packages"),
            )
        except Exception as error:  # noqa: BLE001 - the project's own code
            problems.append(
                f"the report sinks of {path} could not be loaded: {describe_error(error)}"
            )
    return problems
