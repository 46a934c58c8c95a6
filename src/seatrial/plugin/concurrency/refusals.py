"""Options that cannot be obeyed while trials are in flight together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

__all__ = ["refuse_foreign_protocols", "refuse_marks", "refuse_options"]

_OPTIONS = {
    "usepdb": "--pdb",
    "trace": "--trace",
    "setupplan": "--setup-plan",  # sets the other two as well
    "setuponly": "--setup-only",
    "setupshow": "--setup-show",
}

_OURS = ("_pytest.", "seatrial.")


def refuse_options(config: pytest.Config) -> None:
    """Stop a session that asks for something that needs one test at a time.

    Raises:
        pytest.UsageError: Naming the option.
    """
    for name, option in _OPTIONS.items():
        if config.getoption(name, None):
            raise _refusal(option)
    if config.getoption("reruns", None) or _ini(config, "reruns"):
        raise _refusal("--reruns")


def refuse_marks(items: list[pytest.Item]) -> None:
    """Stop a session whose tests are to be repeated by a plugin that runs them itself.

    Raises:
        pytest.UsageError: Naming the first such test.
    """
    for item in items:
        if item.get_closest_marker("flaky") is not None:
            raise _refusal(f"the mark flaky of {item.nodeid}")


def refuse_foreign_protocols(config: pytest.Config) -> None:
    """Stop a session in which another plugin runs tests in a way of its own.

    Raises:
        pytest.UsageError: Naming the plugin.
    """
    for name in _foreign_protocols(config):
        is_conftest = name.endswith(".py")
        instead = "make the hook a wrapper" if is_conftest else f"-p no:{name}"
        raise pytest.UsageError(
            f"--trial-concurrency cannot be combined with {'' if is_conftest else 'the plugin '}{name},"
            " whose pytest_runtest_protocol runs tests in a way of its own. Use"
            f" --trial-concurrency=1, or {instead}"
        )


def _foreign_protocols(config: pytest.Config) -> Iterator[str]:
    for implementation in config.hook.pytest_runtest_protocol.get_hookimpls():
        if implementation.wrapper or implementation.hookwrapper:
            continue
        if getattr(implementation.function, "__module__", "").startswith(_OURS):
            continue
        if implementation.plugin_name == "rerunfailures":
            continue  # it acts on --reruns and on the mark flaky, which are refused by name
        yield str(implementation.plugin_name)


def _ini(config: pytest.Config, name: str) -> object:
    try:
        return config.getini(name)
    except (KeyError, ValueError):
        return None


def _refusal(what: str) -> pytest.UsageError:
    return pytest.UsageError(
        f"{what} cannot be combined with --trial-concurrency: it needs one test at a time."
        " Use --trial-concurrency=1"
    )
