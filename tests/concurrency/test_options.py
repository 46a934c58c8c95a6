"""What cannot be combined with concurrency, and sessions without one of pytest's plugins."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .recording import Recording
from .sessions import TOGETHER, Parity, Sessions

PASSING = """
    @pytest.mark.trial(n=3)
    def test_sync(): meet(3)

    @pytest.mark.trial(n=3)
    async def test_async(): await meet_async(3)
    """


def errors(session: pytest.RunResult) -> list[str]:
    return [line for line in session.errlines if line.startswith("ERROR: ")]


@pytest.mark.parametrize(
    "option",
    ["--pdb", "--trace", "--setup-show", "--setup-only", "--setup-plan", "--reruns=2"],
)
def test_options_that_need_one_test_at_a_time_are_refused(
    sessions: Sessions, pytester: pytest.Pytester, option: str
) -> None:
    if option.startswith("--reruns"):
        pytest.importorskip("pytest_rerunfailures")
    sessions.write(PASSING)
    result = pytester.runpytest_inprocess("--trial-concurrency=4", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (error,) = errors(result)
    assert error == (
        f"ERROR: {option.partition('=')[0]} cannot be combined with --trial-concurrency: it needs"
        " one test at a time. Use --trial-concurrency=1"
    )


def test_the_same_options_are_welcome_with_one_trial_at_a_time(sessions: Sessions) -> None:
    sessions.write(PASSING)
    session = sessions.run("--setup-show", in_flight=1)
    assert session.counts == {"passed": 6}


def test_marks_that_repeat_tests_are_refused(sessions: Sessions, pytester: pytest.Pytester) -> None:
    pytest.importorskip("pytest_rerunfailures")
    sessions.write(
        PASSING
        + """
    @pytest.mark.flaky(reruns=2)
    def test_again(): pass
    """
    )
    result = pytester.runpytest_inprocess("--trial-concurrency=4")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (error,) = errors(result)
    assert error.startswith(
        "ERROR: the mark flaky of test_suite.py::test_again cannot be combined with"
        " --trial-concurrency"
    )


def test_plugins_that_run_tests_in_a_way_of_their_own_are_refused(
    sessions: Sessions, pytester: pytest.Pytester
) -> None:
    sessions.write(PASSING)
    pytester.makepyfile(
        own_runner="""
        import pytest

        def pytest_runtest_protocol(item, nextitem): return None
        """
    )
    pytester.syspathinsert()
    result = pytester.runpytest_inprocess("--trial-concurrency=4", "-p", "own_runner")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (error,) = errors(result)
    assert "cannot be combined with the plugin own_runner" in error
    assert "Use --trial-concurrency=1, or -p no:own_runner" in error


def test_without_greenlet_the_extra_is_named(sessions: Sessions, pytester: pytest.Pytester) -> None:
    sessions.write(PASSING)
    (pytester.path / "no_greenlet").mkdir()
    (pytester.path / "no_greenlet" / "greenlet.py").write_text(
        "raise ModuleNotFoundError('No module named greenlet', name='greenlet')\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(pytester.path / "no_greenlet"),
        "TRIALS_IN_FLIGHT": "1",
    }

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pytest", *options],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    refused = run("--trial-concurrency=4")
    assert refused.returncode == pytest.ExitCode.USAGE_ERROR
    assert refused.stderr.strip().splitlines() == [
        "ERROR: --trial-concurrency needs greenlet: pip install 'seatrial[concurrency]'"
    ]
    serial = run()
    assert serial.returncode == pytest.ExitCode.OK, serial.stdout


def test_with_one_trial_at_a_time_nothing_of_it_is_imported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys, pytest

        @pytest.mark.trial(n=2)
        async def test_it():
            names = ("seatrial.plugin.concurrency.run", "greenlet")
            assert [name for name in names if name in sys.modules] == []
        """
    )
    result = pytester.runpytest_subprocess("--trial-concurrency=1")
    result.assert_outcomes(passed=2)


def test_a_python_without_a_part_that_is_needed_runs_trials_one_at_a_time_and_says_so(
    sessions: Sessions,
) -> None:
    sessions.write(
        """
        inside = 0

        @pytest.mark.trial(n=3)
        async def test_it():
            global inside
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            inside -= 1
        """
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr("unittest.mock._patch_dict._patch_dict")
        session = sessions.run()
    assert session.counts == {"passed": 3}
    assert session.recording.most_in_flight == 1
    assert (
        "trials ran one at a time: --trial-concurrency does not know this pytest,"
        f" {pytest.__version__}, which has no unittest.mock._patch_dict._patch_dict"
    ) in session.lines


PLUGINS = [
    "logging",
    "warnings",
    "threadexception",
    "unraisableexception",
    "cacheprovider",
    "faulthandler",
    "junitxml",
    "stepwise",
    "anyio",
    "xdist",
    "timeout",
    "rerunfailures",
    "rampart",
    "kensa",
    "capture",
]


@pytest.mark.parametrize("plugin", PLUGINS)
def test_sessions_without_a_plugin_say_the_same(parity: Parity, plugin: str) -> None:
    safety = """
        @pytest.mark.trial(n=3)
        async def test_safety(request):
            await meet_async(3)
            print("printed by", request.node.name)
            logging.getLogger("suite").warning("logged")
            warnings.warn("careful", stacklevel=1)
            assert not request.node.name.endswith("1]")
        """
    evals = """
        @pytest.mark.kensa(trials=3)
        def test_eval(request):
            meet(3)
            print("printed by", request.node.name)
            thread = threading.Thread(target=print, args=("in a thread",))
            thread.start()
            thread.join()
            assert not request.node.name.endswith("1]")
        """
    suites = {"rampart": [evals], "kensa": [safety]}
    together = parity("\n".join(suites.get(plugin, [safety, evals])), "-p", f"no:{plugin}")
    assert together.counts["failed"] >= 1
    assert together.recording.most_in_flight >= 3


def test_sync_trials_need_no_pytest_asyncio(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        def test_it(): meet(3)
        """,
        "-p",
        "no:asyncio",
    )
    assert together.counts == {"passed": 3}


def test_a_session_without_a_terminal_ends_with_the_same_status(
    sessions: Sessions, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.write(PASSING.replace("meet(3)", "assert False"))
    for in_flight in (1, TOGETHER):
        monkeypatch.setenv("TRIALS_IN_FLIGHT", str(in_flight))
        recording = Recording()
        result = pytester.runpytest_inprocess(
            "-p", "no:terminal", f"--trial-concurrency={in_flight}", plugins=[recording]
        )
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert len(recording.order) == 6


@pytest.mark.parametrize(
    "option",
    [
        "--trial-concurrency=0",
        "--trial-concurrency=many",
        "--trial-timeout=-1",
        "--trial-rate=fast",
    ],
)
def test_values_that_mean_nothing_are_usage_errors(
    sessions: Sessions, pytester: pytest.Pytester, option: str
) -> None:
    sessions.write(PASSING)
    result = pytester.runpytest_inprocess("--trial-concurrency=4", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    name, _, value = option.partition("=")
    assert errors(result)[0].startswith(f"ERROR: {name}={value!r}, expected")
