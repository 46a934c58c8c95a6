"""What changes the whole process: known beforehand it runs alone, found out later it is refused."""

from __future__ import annotations

import pytest

from .sessions import Parity, Sessions

MONKEYPATCH = """
    @pytest.mark.trial(n=3)
    def test_it(monkeypatch):
        monkeypatch.setenv("SUITE", "patched")
        monkeypatch.setattr(os, "getcwd", lambda: "nowhere")
        assert (os.environ["SUITE"], os.getcwd()) == ("patched", "nowhere")
    """
CAPSYS = """
    @pytest.mark.trial(n=3)
    def test_it(capsys, request):
        print("by", request.node.name)
        assert capsys.readouterr().out == f"by {request.node.name}\\n"
    """
CAPFD = """
    @pytest.mark.trial(n=3)
    def test_it(capfd, request):
        os.write(1, request.node.name.encode())
        assert capfd.readouterr().out == request.node.name
    """
CAPTEESYS = """
    @pytest.mark.trial(n=3)
    def test_it(capteesys, request):
        print("by", request.node.name)
        assert capteesys.readouterr().out == f"by {request.node.name}\\n"
    """
RECWARN = """
    @pytest.mark.trial(n=3)
    def test_it(recwarn, request):
        warnings.warn(request.node.name, stacklevel=1)
        assert [str(warning.message) for warning in recwarn] == [request.node.name]
    """
ASYNC = """
    @pytest.mark.trial(n=3)
    async def test_it(monkeypatch):
        monkeypatch.chdir("/")
        await asyncio.sleep(0)
        assert os.getcwd() == "/"
    """
INDIRECT = """
    @pytest.fixture
    def patched(monkeypatch): monkeypatch.setenv("SUITE", "patched")

    @pytest.mark.trial(n=3)
    async def test_it(patched):
        await asyncio.sleep(0)
        assert os.environ["SUITE"] == "patched"
    """


@pytest.mark.parametrize(
    ("fixture", "suite"),
    [
        ("monkeypatch", MONKEYPATCH),
        ("capsys", CAPSYS),
        ("capfd", CAPFD),
        ("capteesys", CAPTEESYS),
        ("recwarn", RECWARN),
        ("monkeypatch", ASYNC),
        ("monkeypatch", INDIRECT),
    ],
    ids=["monkeypatch", "capsys", "capfd", "capteesys", "recwarn", "async", "indirect"],
)
def test_process_wide_fixtures_make_a_test_run_alone_in_its_place(
    parity: Parity, fixture: str, suite: str
) -> None:
    noting = """
    @pytest.fixture(autouse=True)
    def noting(request): event(request.node.originalname)

    @pytest.mark.trial(n=2)
    async def test_before(): await meet_async(2)
    """
    after = """
    @pytest.mark.trial(n=2)
    def test_after(): meet(2)
    """
    together = parity(noting + suite + after)
    assert together.counts == {"passed": 7}
    assert together.noted() == [*["test_before"] * 2, *["test_it"] * 3, *["test_after"] * 2]
    reasons = [line for line in together.lines if "ran one at a time" in line]
    assert len(reasons) == 1
    assert reasons[0].startswith("3 trials ran one at a time: uses process-wide fixture")
    assert fixture in reasons[0]


def test_subtests_run_alone(parity: Parity) -> None:
    if not hasattr(pytest, "Subtests"):
        pytest.skip("this pytest has no subtests of its own")
    together = parity(
        """
        @pytest.mark.trial(n=3)
        def test_it(subtests):
            for number in range(3):
                with subtests.test(number=number): assert number != 1
        """
    )
    assert "3 trials ran one at a time: uses process-wide fixture subtests" in together.lines


def test_a_project_can_name_fixtures_of_its_own(
    sessions: Sessions, pytester: pytest.Pytester
) -> None:
    pytester.makeini("[pytest]\ntrial_process_wide_fixtures = database other\n")
    sessions.write(
        """
        inside = 0

        @pytest.fixture
        def database():
            global inside
            inside += 1
            assert inside == 1
            yield
            inside -= 1

        @pytest.mark.trial(n=3)
        async def test_it(database): await asyncio.sleep(0)
        """
    )
    together = sessions.run()
    assert together.counts == {"passed": 3}
    assert "3 trials ran one at a time: uses process-wide fixture database" in together.lines


def test_a_test_that_is_decorated_with_a_patch_runs_alone(parity: Parity) -> None:
    together = parity(
        """
        from unittest import mock

        @pytest.mark.trial(n=3)
        @mock.patch("os.getcwd", return_value="nowhere")
        def test_it(getcwd): assert os.getcwd() == "nowhere"
        """
    )
    assert together.counts == {"passed": 3}
    assert "3 trials ran one at a time: is decorated with unittest.mock.patch" in together.lines


BODIES = {
    "mock.patch": ("mock.patch('os.getcwd')", "unittest.mock.patch()"),
    "mock.patch.object": ("mock.patch.object(os, 'getcwd')", "unittest.mock.patch()"),
    "mock.patch.dict": ("mock.patch.dict(os.environ, A='b')", "unittest.mock.patch.dict()"),
    "redirect_stdout": ("contextlib.redirect_stdout(io.StringIO())", "redirect_stdout()"),
    "redirect_stderr": ("contextlib.redirect_stderr(io.StringIO())", "redirect_stderr()"),
    "pytest.warns": ("pytest.warns(UserWarning)", "pytest.warns()"),
    "deprecated_call": ("pytest.deprecated_call()", "pytest.warns()"),
    "chdir": ("contextlib.chdir('/')", "os.chdir()"),
    "MonkeyPatch": ("patching()", "MonkeyPatch.setattr()"),
}
REFUSED = """
    import contextlib, io
    from unittest import mock

    @contextlib.contextmanager
    def patching():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "getcwd", None)
            yield

    @pytest.mark.trial(n=4)
    {async_}def test_it(request):
        {meet}
        if request.node.name.endswith("2]"):
            with {body}:
                {meet_inside}
        {meet_after}
        print(request.node.name)
        record("safe")
    """


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize(("body", "words"), BODIES.values(), ids=BODIES)
def test_changing_the_process_in_a_body_is_refused_and_harms_no_neighbour(
    sessions: Sessions, body: str, words: str, kind: str
) -> None:
    is_async = kind == "async"
    wait = "await meet_async({}, {!r})" if is_async else "meet({}, {!r})"
    sessions.write(
        REFUSED.format(
            async_="async " if is_async else "",
            body=body,
            meet=wait.format(4, "before"),
            meet_inside="await asyncio.sleep(0)" if is_async else "pass",
            meet_after=wait.format(3, "after"),
        )
    )
    together = sessions.run()
    assert together.counts == {"failed": 1, "passed": 3}
    message = str(together.report("test_it[trial-2]")["longrepr"])
    assert words in message
    assert "changes process-wide state while other trials are running" in message
    assert "Use concurrency=1 on its marker" in message
    assert together.sections("test_it[trial-1]") == {"Captured stdout call": "test_it[trial-1]\n"}


def test_catching_warnings_around_an_await_is_refused(sessions: Sessions) -> None:
    sessions.write(
        """
        @pytest.mark.trial(n=3)
        async def test_it(request):
            await meet_async(3)
            with warnings.catch_warnings(): warnings.simplefilter("error")
            if request.node.name.endswith("1]"):
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    await asyncio.sleep(3600)
            warnings.warn("careful", stacklevel=1)
        """
    )
    together = sessions.run()
    assert together.counts == {"failed": 1, "passed": 2, "warnings": 2}
    message = str(together.report("test_it[trial-1]")["longrepr"])
    assert "warnings.catch_warnings() around an await changes process-wide state" in message


def test_changing_the_process_in_a_function_fixture_is_refused(sessions: Sessions) -> None:
    sessions.write(
        """
        from unittest import mock

        @pytest.fixture
        def patched(request):
            if not request.node.name.endswith("1]"):
                yield
                return
            with mock.patch("os.getcwd"): yield

        @pytest.mark.trial(n=3)
        def test_sync(patched): meet(2)

        @pytest.mark.trial(n=3)
        async def test_async(patched): await meet_async(2)
        """
    )
    together = sessions.run()
    assert together.counts == {"passed": 4, "errors": 2}
    message = "unittest.mock.patch() changes process-wide state while other trials are running"
    assert message in str(together.report("test_async[trial-1]", "setup")["longrepr"])


def test_shared_fixtures_may_change_the_process(parity: Parity) -> None:
    together = parity(
        """
        from unittest import mock

        @pytest.fixture(scope="module")
        def patched():
            with mock.patch("os.getcwd", return_value="nowhere"): yield

        @pytest.fixture(scope="session")
        def environment(tmp_path_factory):
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("SUITE", "patched")
                patch.chdir(tmp_path_factory.mktemp("elsewhere"))
                yield

        @pytest.mark.trial(n=3)
        def test_sync(patched, environment):
            meet(3)
            assert (os.getcwd(), os.environ["SUITE"]) == ("nowhere", "patched")

        @pytest.mark.trial(n=3)
        async def test_async(patched, environment):
            await meet_async(3)
            assert (os.getcwd(), os.environ["SUITE"]) == ("nowhere", "patched")
        """
    )
    assert together.counts == {"passed": 6}


@pytest.mark.parametrize("fixture", ["capsys", "monkeypatch", "recwarn", "capfd"])
def test_requesting_a_process_wide_fixture_while_running_is_refused(
    sessions: Sessions, fixture: str
) -> None:
    sessions.write(
        f"""
        @pytest.mark.trial(n=3)
        def test_sync(request):
            meet(3)
            if request.node.name.endswith("1]"): request.getfixturevalue("{fixture}")
            print(request.node.name)

        @pytest.mark.trial(n=3)
        async def test_async(request):
            await meet_async(3)
            if request.node.name.endswith("1]"): request.getfixturevalue("{fixture}")
            print(request.node.name)
        """
    )
    together = sessions.run()
    assert together.counts == {"failed": 2, "passed": 4}
    message = str(together.report("test_async[trial-1]")["longrepr"])
    assert (
        f"fixture '{fixture}' changes process-wide state and was requested dynamically" in message
    )
    for name in ("test_sync[trial-0]", "test_async[trial-2]"):
        assert together.sections(name) == {"Captured stdout call": f"{name}\n"}


def test_a_lone_trial_is_refused_nothing(parity: Parity) -> None:
    together = parity(
        """
        from unittest import mock

        @pytest.mark.trial(n=2, concurrency=1)
        def test_it(request):
            with mock.patch("os.getcwd", return_value="nowhere"): assert os.getcwd() == "nowhere"
            with pytest.warns(UserWarning): warnings.warn("careful", stacklevel=1)
            request.getfixturevalue("monkeypatch").setenv("SUITE", "patched")
            request.getfixturevalue("capsys").readouterr()

        def test_plain(monkeypatch): monkeypatch.setenv("SUITE", "patched")
        """
    )
    assert together.counts == {"passed": 3}


def test_a_thread_bound_object_of_a_shared_fixture_is_pythons_error(sessions: Sessions) -> None:
    sessions.write(
        """
        import sqlite3

        @pytest.fixture(scope="session")
        def shared():
            connection = sqlite3.connect(":memory:")
            yield connection
            connection.close()

        @pytest.fixture
        def own():
            connection = sqlite3.connect(":memory:")
            yield connection
            connection.close()

        @pytest.mark.trial(n=2)
        async def test_async(shared): await meet_async(2); shared.execute("select 1")

        @pytest.mark.trial(n=2)
        def test_sync_own(own): meet(2); own.execute("select 1")

        @pytest.mark.trial(n=2)
        def test_sync_shared(shared): meet(2); shared.execute("select 1")
        """
    )
    together = sessions.run()
    assert together.counts == {"passed": 4, "failed": 2}
    assert "ProgrammingError" in str(together.report("test_sync_shared[trial-0]")["longrepr"])


def test_patching_a_dictionary_by_decorator_is_refused(sessions: Sessions) -> None:
    sessions.write(
        """
        from unittest import mock

        @pytest.mark.trial(n=3)
        @mock.patch.dict(os.environ, {"SUITE": "patched"})
        async def test_it(): assert os.environ["SUITE"] == "patched"

        def test_after(): assert "SUITE" not in os.environ
        """
    )
    together = sessions.run()
    assert together.counts == {"failed": 3, "passed": 1}
    message = str(together.report("test_it[trial-1]")["longrepr"])
    assert "unittest.mock.patch.dict() changes process-wide state" in message
    assert together.record("test_it[trial-1]")["outcome"] == "error"
