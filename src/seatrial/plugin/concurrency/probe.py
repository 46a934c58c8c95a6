"""Whether this pytest has the parts that concurrency builds on; they are not public."""

from __future__ import annotations

import importlib

import pytest

__all__ = ["missing_parts"]

_PARTS = (
    ("_pytest.runner", "call_and_report"),
    ("_pytest.runner", "_update_current_test_var"),
    ("_pytest.runner", "SetupState.setup"),
    ("_pytest.runner", "SetupState.addfinalizer"),
    ("_pytest.runner", "SetupState.teardown_exact"),
    ("_pytest.fixtures", "FixtureDef.execute"),
    ("_pytest.fixtures", "FixtureDef.finish"),
    ("_pytest.fixtures", "FixtureRequest.getfixturevalue"),
    ("_pytest.fixtures", "FixtureManager.getfixturedefs"),
    ("_pytest.fixtures", "FuncFixtureInfo"),
    ("_pytest.fixtures", "call_fixture_func"),
    ("_pytest.fixtures", "_teardown_yield_fixture"),
    ("_pytest.scope", "Scope.Function"),
    ("_pytest.python", "Function._initrequest"),
    ("_pytest.assertion", "pytest_runtest_protocol"),
    ("_pytest.assertion.util", "_assertion_pass"),
    ("_pytest.warnings", "catch_warnings_for_item"),
    ("_pytest.warnings", "pytest_runtest_protocol"),
    ("_pytest.faulthandler", "pytest_runtest_protocol"),
    ("_pytest.threadexception", "thread_exceptions"),
    ("_pytest.recwarn", "WarningsRecorder.__enter__"),
    ("_pytest.capture", "CaptureResult"),
    ("_pytest.capture", "CaptureManager.resume_global_capture"),
    ("_pytest.capture", "CaptureManager.suspend_global_capture"),
    ("_pytest.capture", "CaptureManager.read_global_capture"),
    ("_pytest.logging", "LoggingPlugin._runtest_for"),
    ("_pytest.logging", "LogCaptureHandler"),
    ("_pytest.logging", "LogCaptureFixture.set_level"),
    ("_pytest.logging", "LogCaptureFixture.at_level"),
    ("_pytest.logging", "LogCaptureFixture._finalize"),
    ("_pytest.logging", "caplog_handler_key"),
    ("_pytest.logging", "caplog_records_key"),
    ("_pytest.logging", "catching_logs"),
    ("asyncio", "Runner.run"),
    ("warnings", "_showwarnmsg_impl"),
    ("unittest.mock", "_patch.__enter__"),
    ("unittest.mock", "_patch_dict._patch_dict"),
    ("contextlib", "_RedirectStream.__enter__"),
)

# Of other plugins, where they are in use: plugin, module, part.
_PLUGIN_PARTS = (
    ("asyncio", "pytest_asyncio.plugin", "_function_scoped_runner"),
    ("asyncio", "pytest_asyncio.plugin", "_session_scoped_runner"),
    ("asyncio", "pytest_asyncio.plugin", "PytestAsyncioFunction"),
    ("anyio", "anyio.pytest_plugin", "get_runner"),
    ("xdist", "xdist.remote", "WorkerInteractor.run_one_test"),
    ("xdist", "xdist.scheduler", "LoadScheduling.check_schedule"),
    ("xdist", "xdist.workermanage", "WorkerController.process_from_remote"),
    ("xdist", "xdist.workermanage", "WorkerController.sendcommand"),
)


def missing_parts(config: pytest.Config) -> list[str]:
    """Names of parts that are not there; empty where concurrency works."""
    in_use = [
        (module, path)
        for plugin, module, path in _PLUGIN_PARTS
        if config.pluginmanager.hasplugin(plugin)
    ]
    return [f"{module}.{path}" for module, path in (*_PARTS, *in_use) if not _has(module, path)]


def _has(module: str, path: str) -> bool:
    try:
        found: object = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError):
        return False
    return True
