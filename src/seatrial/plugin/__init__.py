"""The pytest plugin of the engine: turns marked tests into trials, and trials into verdicts.

Each module here registers as a plugin of its own; this one only puts them in place. What a suite
without trials has no use for is imported where it is used, so that starting pytest stays cheap.
"""

from __future__ import annotations

import warnings

import pytest

from seatrial.collision import colliding_distributions
from seatrial.plugin import asyncio_support, expand, hookspecs, trial_protocol
from seatrial.plugin.faces import find_faces
from seatrial.plugin.keys import faces_key
from seatrial.plugin.model_options import add_model_options, max_cost_usd
from seatrial.plugin.trial_options import add_trial_options, trial_options

__all__: list[str] = []


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register our hooks, both faces' included: a conftest may implement them without the face."""
    pluginmanager.add_hookspecs(hookspecs)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of how trials run, and of what they may ask of models."""
    add_trial_options(parser)
    add_model_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Put the plugin's parts in place, for this session only."""
    refuse_collisions()
    # A wrong value stops the session before anything runs.
    options = trial_options(config)
    max_cost_usd(config)
    # Whoever installs Seatrial gets pytest-asyncio with it, and should not have to answer a
    # question about fixture loops that they never asked.
    warnings.filterwarnings(
        "ignore", message=r'The configuration option "asyncio_default_fixture_loop_scope" is unset'
    )
    config.stash[faces_key] = find_faces(config)
    for name, part in (
        ("asyncio", asyncio_support),
        ("expand", expand),
        ("trial-protocol", trial_protocol),
    ):
        config.pluginmanager.register(part, f"seatrial-{name}")
    if options.timeout_s is not None:
        from seatrial.plugin.timeouts import limit_bodies

        limit_bodies(config)
    if hasattr(config, "workerinput"):
        from seatrial.plugin import loadgroup
        from seatrial.plugin.worker import WorkerSession

        config.pluginmanager.register(loadgroup, "seatrial-loadgroup")
        config.pluginmanager.register(WorkerSession(config), "seatrial-session")
    else:
        from seatrial.plugin.session import ControllerSession

        config.pluginmanager.register(ControllerSession(config), "seatrial-session")
    if options.concurrency > 1:
        from seatrial.plugin.concurrency import configure_concurrency

        configure_concurrency(config, options)
    elif options.rate_per_s is not None:
        from seatrial.plugin.pace import PacedTrials

        config.pluginmanager.register(PacedTrials(options.rate_per_s), "seatrial-pace")


def refuse_collisions() -> None:
    """Stop when another distribution installed a package of ours: one would shadow the other.

    Raises:
        pytest.UsageError: Naming what to uninstall.
    """
    names = colliding_distributions()
    if names:
        listed = " and ".join(names)
        raise pytest.UsageError(
            f"seatrial provides the packages rampart and kensa, but {listed} from PyPI is installed"
            f" too and overwrites them. Run: pip uninstall {' '.join(names)}; then reinstall"
            " seatrial: pip install --force-reinstall --no-deps seatrial"
        )
