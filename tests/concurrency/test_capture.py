"""Output, logs and warnings: each in the report of the trial whose code gave them."""

from __future__ import annotations

import re

import pytest

from .recording import normalised
from .sessions import TOGETHER, Parity, Sessions

SPEAKING = """
from concurrent.futures import ThreadPoolExecutor
log = logging.getLogger("suite")

@pytest.fixture
def name(request): return request.node.name

@pytest.fixture(scope="session")
def pool():
    with ThreadPoolExecutor(4) as pool: yield pool

def say(who, where):
    print(f"{where}: {who} says")
    print(f"{where}: {who} complains", file=sys.stderr)
    log.warning("%s: %s logs", where, who)

@pytest.fixture
def speaker(name):
    say(name, "set-up")
    meet(3, "set-up")
    yield
    say(name, "tear-down")

@pytest.fixture
async def async_speaker(name):
    say(name, "set-up")
    await meet_async(3, "async set-up")
    yield
    await asyncio.sleep(0)
    say(name, "tear-down")

@pytest.mark.trial(n=3)
def test_sync(speaker, name, pool):
    say(name, "body")
    meet(3)
    thread = threading.Thread(target=say, args=(name, "thread"))
    thread.start()
    thread.join()
    meet(3, "after the thread")
    pool.submit(say, name, "executor").result()
    sys.stdout.write("written\\n")
    sys.stderr.flush()
    print(sys.stdout.encoding.lower(), sys.stdout.isatty(), sys.stdout.writable())

async def later(who):
    await asyncio.sleep(0)
    say(who, "task")

@pytest.mark.trial(n=3)
async def test_async(async_speaker, name, pool):
    say(name, "body")
    await meet_async(3)
    await asyncio.create_task(later(name))
    await meet_async(3, "after the task")
    await asyncio.to_thread(say, name, "to_thread")
    await asyncio.get_running_loop().run_in_executor(pool, say, name, "executor")
    async with asyncio.TaskGroup() as group: group.create_task(later(name))

def test_plain(name): say(name, "body")
"""


@pytest.mark.parametrize("method", ["fd", "sys", "tee-sys"])
def test_what_a_trial_writes_and_logs_is_in_its_own_report(parity: Parity, method: str) -> None:
    together = parity(SPEAKING, f"--capture={method}")
    assert together.counts == {"passed": 7}
    for name, places in (
        ("test_sync[trial-1]", ["body", "thread", "executor"]),
        ("test_async[trial-2]", ["body", "task", "to_thread", "executor", "task"]),
    ):
        sections = together.sections(name)
        said = "".join(f"{place}: {name} says\n" for place in places)
        assert sections["Captured stdout call"].startswith(said)
        assert sections["Captured stderr setup"] == f"set-up: {name} complains\n"
        assert sections["Captured stdout teardown"] == f"tear-down: {name} says\n"
        logged = [line.rpartition(": ")[2] for line in sections["Captured log call"].splitlines()]
        assert logged == [f"{name} logs"] * len(places)


def test_without_capturing_all_is_written_through(parity: Parity) -> None:
    together = parity(SPEAKING, "--capture=no")
    assert together.text.count("body: test_async[trial-1] says") == 1
    assert "Captured stdout call" not in together.sections("test_sync[trial-0]")
    assert "Captured log call" in together.sections("test_sync[trial-0]")


def test_failures_show_the_output_of_their_own_trial(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        async def test_it(request):
            print("before", request.node.name)
            await meet_async(3)
            print("after", request.node.name)
            assert not request.node.name.endswith("1]")
        """,
        "--show-capture=stdout",
    )
    assert "before test_it[trial-1]\nafter test_it[trial-1]" in together.text
    assert "before test_it[trial-0]" not in together.text


def test_bytes_written_to_the_buffer_are_the_trials_too(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        async def test_it(request):
            sys.stdout.buffer.write(f"bytes of {request.node.name} \\u2713\\n".encode())
            await meet_async(3)
            print("text of", request.node.name)
            sys.stdout.flush()
            sys.stderr.buffer.write(b"\\xff\\xfe not text\\n")
        """
    )
    sections = together.sections("test_it[trial-1]")
    expected = "bytes of test_it[trial-1] \u2713\ntext of test_it[trial-1]\n"
    assert sections["Captured stdout call"] == expected


def test_caplog_holds_the_records_of_its_own_trial(parity: Parity) -> None:
    together = parity(
        """
        log = logging.getLogger("suite")

        @pytest.fixture
        def logging_fixture(request): log.error("set-up of %s", request.node.name)

        @pytest.mark.trial(n=3)
        def test_sync(caplog, request, logging_fixture):
            name = request.node.name
            meet(3)
            log.warning("first of %s", name)
            meet(3, "first")
            assert caplog.messages == [f"first of {name}"]
            assert [r.getMessage() for r in caplog.get_records("setup")] == [f"set-up of {name}"]
            caplog.clear()
            log.error("second of %s", name)
            assert caplog.record_tuples == [("suite", logging.ERROR, f"second of {name}")]

        @pytest.mark.trial(n=3)
        async def test_async(caplog, request, logging_fixture):
            name = request.node.name
            await meet_async(3)
            log.warning("first of %s", name)
            await meet_async(3, "first")
            await asyncio.to_thread(log.error, "second of %s", name)
            assert caplog.messages == [f"first of {name}", f"second of {name}"]
            assert f"second of {name}" in caplog.text
        """
    )
    assert together.counts == {"passed": 6}


def test_caplog_levels_hold_for_their_own_trial(parity: Parity) -> None:
    together = parity(
        """
        log = logging.getLogger("suite")

        @pytest.mark.trial(n=4)
        async def test_at_level(caplog, request):
            number = int(request.node.name[-2])
            level = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)[number]
            with caplog.at_level(level, logger="suite"):
                await meet_async(4)
                log.debug("debug")
                log.info("info")
                await meet_async(4, "inside")
                log.warning("warning")
                log.error("error")
            assert caplog.messages == ["debug", "info", "warning", "error"][number:]
            await meet_async(4, "after")
            log.info("nobody listens any more")

        @pytest.mark.trial(n=3)
        def test_set_level(caplog, request):
            number = int(request.node.name[-2])
            if number == 1: caplog.set_level("DEBUG", "suite")
            if number == 2: caplog.set_level(logging.INFO)
            meet(3)
            log.debug("debug")
            log.info("info")
            log.warning("warning")
            expected = [["warning"], ["debug", "info", "warning"], ["info", "warning"]]
            assert caplog.messages == expected[number]

        def test_after(caplog):
            log.info("nobody listens")
            assert caplog.messages == []
            assert log.level == logging.NOTSET
        """
    )
    assert together.counts == {"passed": 8}


def test_caplog_filters_and_disabled_levels_hold_for_their_own_trial(parity: Parity) -> None:
    together = parity(
        """
        log = logging.getLogger("suite")

        @pytest.mark.trial(n=3)
        def test_filtering(caplog, request):
            own = logging.Filter("suite.wanted" if request.node.name.endswith("1]") else "suite")
            with caplog.filtering(own):
                meet(3)
                logging.getLogger("suite.wanted").warning("wanted")
                log.warning("whatever")
                meet(3, "inside")
            unwanted = [] if request.node.name.endswith("1]") else ["whatever"]
            assert caplog.messages == ["wanted", *unwanted]
        """
    )
    assert together.counts == {"passed": 3}


def test_log_options_apply_to_trials_in_flight(parity: Parity) -> None:
    suite = """
        @pytest.mark.trial(n=3)
        async def test_it(caplog, request):
            await meet_async(3)
            logging.getLogger("suite").info("seen by %s", request.node.name)
            logging.getLogger("suite").debug("too low")
            assert caplog.messages == [f"seen by {request.node.name}"]
            assert request.node.name.endswith("1]")
        """
    together = parity(suite, "--log-level=INFO", "--log-format=%(levelname)s<%(message)s>")
    assert together.counts == {"passed": 1, "failed": 2}
    assert together.sections("test_it[trial-2]") == {
        "Captured log call": "INFO<seen by test_it[trial-2]>"
    }


def test_log_files_hold_what_all_trials_logged(
    sessions: Sessions, pytester: pytest.Pytester
) -> None:
    sessions.write(
        """
        @pytest.mark.trial(n=3)
        async def test_it(request):
            await meet_async(3)
            logging.getLogger("suite").warning("of %s", request.node.name)
        """
    )
    for session in sessions.both("--log-file=all.log", "--log-file-format=%(message)s"):
        lines = sorted((pytester.path / "all.log").read_text().splitlines())
        assert lines == [f"of test_it[trial-{index}]" for index in range(3)]
        assert session.counts == {"passed": 3}


def test_warnings_are_reported_for_the_trial_that_gave_them(parity: Parity) -> None:
    together = parity(
        """
        def warn(who): warnings.warn(f"careful, {who}", UserWarning, stacklevel=1)

        @pytest.fixture
        def name(request):
            warn(f"set-up of {request.node.name}")
            return request.node.name

        @pytest.mark.trial(n=3)
        def test_sync(name):
            meet(3)
            for _ in range(2): warn(name)
            thread = threading.Thread(target=warn, args=(f"thread of {name}",))
            thread.start()
            thread.join()

        @pytest.mark.trial(n=3)
        async def test_async(name):
            await meet_async(3)
            warn(name)
            await asyncio.to_thread(warn, f"to_thread of {name}")
            warnings.warn("the same of all", DeprecationWarning, stacklevel=1)
        """
    )
    mine = together.recording.warnings["test_suite.py::test_async[trial-1]"]
    assert [text.partition(" (")[0] for text in mine] == [
        "runtest: UserWarning: careful, set-up of test_async[trial-1]",
        "runtest: UserWarning: careful, test_async[trial-1]",
        "runtest: UserWarning: careful, to_thread of test_async[trial-1]",
        "runtest: DeprecationWarning: the same of all",
    ]


@pytest.mark.parametrize("action", ["error", "error::UserWarning", "ignore", "always", "once"])
def test_warning_filters_of_the_command_line_hold(parity: Parity, action: str) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        def test_sync(request):
            meet(3)
            for _ in range(2): warnings.warn(request.node.name, UserWarning, stacklevel=1)

        @pytest.mark.trial(n=3)
        async def test_async(request):
            await meet_async(3)
            for _ in range(2): warnings.warn(request.node.name, UserWarning, stacklevel=1)
        """,
        f"-W{action}",
    )
    failed = "failed" if action.startswith("error") else "passed"
    assert together.counts[failed] == 6


def test_filterwarnings_marks_hold_for_their_own_tests(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        @pytest.mark.filterwarnings("error:bad")
        async def test_strict(): await meet_async(3); warnings.warn("bad idea", stacklevel=1)

        @pytest.mark.trial(n=3)
        @pytest.mark.filterwarnings("ignore:bad")
        async def test_quiet(): await meet_async(3); warnings.warn("bad idea", stacklevel=1)

        @pytest.mark.trial(n=3)
        async def test_open(): await meet_async(3); warnings.warn("bad idea", stacklevel=1)
        """
    )
    assert together.counts == {"failed": 3, "passed": 6, "warnings": 3}


def test_an_exception_in_a_thread_is_reported_for_the_trial_that_started_it(parity: Parity) -> None:
    together = parity(
        """
        def die(who): raise ConnectionError(f"{who} lost its thread")

        @pytest.mark.trial(n=3)
        def test_sync(request):
            meet(3)
            thread = threading.Thread(target=die, args=(request.node.name,), name="own")
            thread.start()
            thread.join()
            meet(3, "after")
        """
    )
    (warning,) = together.recording.warnings["test_suite.py::test_sync[trial-1]"]
    assert "test_sync[trial-1] lost its thread" in warning


def test_what_a_subprocess_writes_is_kept_apart(sessions: Sessions) -> None:
    sessions.write(
        """
        import subprocess

        @pytest.mark.trial(n=3)
        def test_it():
            meet(3)
            subprocess.run([sys.executable, "-c", "print('from outside')"], check=True)
            os.write(2, b"to the descriptor\\n")
        """
    )
    together = sessions.run("--capture=fd")
    assert together.counts == {"passed": 3}
    assert together.sections("test_it[trial-1]") == {}
    titles = [n for n, line in enumerate(together.lines) if "by none of them" in line]
    (where,) = titles
    assert "from outside" in together.lines[where:]
    assert "to the descriptor" in together.lines[where:]


def test_live_logs_are_shown_while_trials_run(sessions: Sessions) -> None:
    sessions.write(
        """
        @pytest.mark.trial(n=3)
        async def test_it(request):
            await meet_async(3)
            logging.getLogger("suite").warning("live of %s", request.node.name)
        """
    )
    for session in sessions.both("--log-cli-level=INFO"):
        assert session.counts == {"passed": 3}
        for index in range(3):
            assert f"live of test_it[trial-{index}]" in session.text


@pytest.mark.parametrize("method", ["fd", "tee-sys", "no"])
def test_in_a_process_of_its_own_the_terminal_shows_the_same(
    sessions: Sessions, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    sessions.write(
        """
        @pytest.mark.trial(n=3)
        async def test_it(request):
            await meet_async(3)
            sys.stdout.write(f"out of {request.node.name} \u2713\\n")
            sys.stderr.write(f"err of {request.node.name}\\n")
            assert not request.node.name.endswith("1]")

        @pytest.mark.trial(n=3)
        def test_sync(request): meet(3); sys.stdout.write(f"out of {request.node.name}\\n")

        def test_after(): sys.stdout.write("out of test_after\\n"); assert False
        """
    )
    shown = []
    for in_flight in (1, TOGETHER):
        monkeypatch.setenv("TRIALS_IN_FLIGHT", str(in_flight))
        result = pytester.runpytest_subprocess(
            f"--capture={method}", f"--trial-concurrency={in_flight}", "-ra"
        )
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        # What is not captured comes between the letters of the progress.
        lines = (re.sub(r"^(test_suite\.py )?[.F]*", "", line) for line in result.outlines)
        shown.append(sorted(normalised(line.strip()) for line in lines))
        assert any("out of test_it[trial-1] \u2713" in line for line in result.outlines)
    assert shown[0] == shown[1]
