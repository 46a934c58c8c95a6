"""pytest-asyncio in both modes, and what trials do with the loop that they share."""

from __future__ import annotations

import pytest

from .sessions import Parity, Sessions

SCOPES = """
import pytest_asyncio

@pytest_asyncio.fixture(loop_scope="{scope}", scope="{scope}")
async def shared():
    event("up", "fixtures that come")
    yield asyncio.get_running_loop()
    event("down", "fixtures that go")

@pytest_asyncio.fixture(loop_scope="{scope}")
async def own(request):
    await meet_async(3, "own")
    yield request.node.name
    await asyncio.sleep(0)
    event("own down", request.node.name)

@pytest.mark.asyncio(loop_scope="{scope}")
class TestIt:
    @pytest.mark.trial(n=3)
    async def test_trial(self, shared, own, request):
        await meet_async(3)
        assert own == request.node.name
        assert shared is asyncio.get_running_loop()

    async def test_plain(self, shared): assert shared is asyncio.get_running_loop()
"""


@pytest.mark.parametrize("scope", ["function", "class", "module", "package", "session"])
@pytest.mark.parametrize("mode", ["strict", "auto"])
def test_every_loop_scope_of_pytest_asyncio_works_in_both_modes(
    parity: Parity, scope: str, mode: str
) -> None:
    together = parity(SCOPES.format(scope=scope), f"--asyncio-mode={mode}")
    assert together.counts == {"passed": 4}
    assert together.noted("test_trial[trial-1]") == ["own down"]
    assert len(together.noted("fixtures that go")) == (4 if scope == "function" else 1)


def test_auto_mode_takes_unmarked_tests_and_fixtures(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture
        async def own(request):
            await asyncio.sleep(0)
            yield request.node.name

        @pytest.fixture(scope="session")
        async def shared(): return "shared"

        @pytest.mark.trial(n=3)
        async def test_trial(own, shared, request):
            await meet_async(3)
            assert (own, shared) == (request.node.name, "shared")

        async def test_plain(own, shared, request):
            assert (own, shared) == (request.node.name, "shared")
        """,
        "--asyncio-mode=auto",
    )
    assert together.counts == {"passed": 4}


def test_loops_of_different_scopes_take_turns(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        async def test_function(): await meet_async(3)

        @pytest.mark.asyncio(loop_scope="module")
        @pytest.mark.trial(n=3)
        async def test_module(): await meet_async(3)

        @pytest.mark.asyncio(loop_scope="session")
        @pytest.mark.trial(n=3)
        async def test_session(): await meet_async(3)

        @pytest.mark.trial(n=3)
        async def test_function_again(): await meet_async(3)
        """
    )
    assert together.counts == {"passed": 12}


SERVER = """
    import http.server
    import httpx
    import pytest_asyncio

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            meet(20, "server")
            body = self.path.encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments): pass

    @pytest.fixture(scope="session")
    def address():
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            server.daemon_threads = True
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            yield f"http://127.0.0.1:{server.server_address[1]}"
            server.shutdown()
            thread.join()
"""


def test_one_http_client_of_the_session_serves_all_trials(parity: Parity) -> None:
    pytest.importorskip("httpx")
    together = parity(
        SERVER
        + """
    @pytest_asyncio.fixture(scope="session", loop_scope="session")
    async def client(address):
        limits = httpx.Limits(max_connections=30)
        async with httpx.AsyncClient(base_url=address, limits=limits) as client: yield client
        event("closed")

    @pytest.mark.asyncio(loop_scope="session")
    @pytest.mark.trial(n=20)
    async def test_it(client, request):
        response = await client.get(f"/{request.node.name[-3:-1].strip('-')}")
        assert response.text == f"/{request.node.name[-3:-1].strip('-')}"
    """
    )
    assert together.counts == {"passed": 20}
    assert together.noted() == ["closed"]


def test_a_blocking_client_in_sync_trials_does_not_hold_up_the_others(parity: Parity) -> None:
    pytest.importorskip("httpx")
    together = parity(
        SERVER
        + """
    @pytest.fixture(scope="session")
    def client(address):
        with httpx.Client(base_url=address, limits=httpx.Limits(max_connections=30)) as client:
            yield client

    @pytest.mark.trial(n=20)
    def test_it(client): assert client.get("/sync").text == "/sync"
    """
    )
    assert together.counts == {"passed": 20}


def test_a_modules_own_semaphore_and_lock_work_in_trials_of_function_loops(
    sessions: Sessions,
) -> None:
    # One at a time they would be bound to the first trial's loop, which is closed by then.
    sessions.write(
        """
        semaphore = asyncio.Semaphore(2)
        lock = asyncio.Lock()
        inside = 0

        @pytest.mark.trial(n=12)
        async def test_it():
            global inside
            await meet_async(12)
            async with semaphore:
                inside += 1
                assert inside <= 2
                await asyncio.sleep(0)
                inside -= 1
            async with lock: await asyncio.sleep(0)
        """
    )
    assert sessions.run().counts == {"passed": 12}


def test_running_a_loop_inside_a_trials_loop_is_pythons_error(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        async def test_it():
            await meet_async(3)
            coroutine = asyncio.sleep(0)
            try:
                with pytest.raises(RuntimeError, match="running event loop"):
                    asyncio.run(coroutine)
                with pytest.raises(RuntimeError):
                    asyncio.get_running_loop().run_until_complete(coroutine)
            finally:
                coroutine.close()
            await asyncio.sleep(0)
        """
    )
    assert together.counts == {"passed": 3}


def test_a_fixture_may_run_a_loop_of_its_own(parity: Parity) -> None:
    together = parity(
        """
        async def answer(value):
            await asyncio.sleep(0)
            return value

        @pytest.fixture
        def own(request):
            value = asyncio.run(answer(request.node.name))
            yield value
            assert asyncio.run(answer(1)) == 1

        @pytest.fixture(scope="module")
        def shared(): return asyncio.run(answer("shared"))

        @pytest.mark.trial(n=3)
        def test_sync(own, shared, request):
            meet(3)
            assert asyncio.run(answer(own)) == request.node.name
            assert shared == "shared"
            with asyncio.Runner() as runner:
                assert runner.run(answer(1)) == 1
            loop = asyncio.new_event_loop()
            try:
                assert loop.run_until_complete(answer(2)) == 2
            finally:
                loop.close()

        @pytest.mark.trial(n=3)
        async def test_async(own, shared, request):
            await meet_async(3)
            assert own == request.node.name
            assert await asyncio.to_thread(asyncio.run, answer(3)) == 3
        """
    )
    assert together.counts == {"passed": 6}


def test_tasks_that_a_trial_leaves_behind_are_cancelled_with_it(parity: Parity) -> None:
    together = parity(
        """
        async def lingering(name):
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                event("cancelled", name)
                raise

        @pytest.fixture
        async def background(request):
            task = asyncio.create_task(lingering(request.node.name))
            yield
            assert not task.done()

        @pytest.mark.trial(n=3)
        async def test_it(request, background):
            task = asyncio.create_task(lingering(request.node.name))
            await meet_async(3)
        """
    )
    assert together.counts == {"passed": 3}
    assert together.noted("test_it[trial-1]") == ["cancelled", "cancelled"]


def test_an_async_generator_left_open_is_closed(parity: Parity) -> None:
    together = parity(
        """
        async def numbers(name):
            try:
                for number in range(10):
                    await asyncio.sleep(0)
                    yield number
            finally:
                event("closed", name)

        @pytest.mark.trial(n=3)
        async def test_it(request):
            await meet_async(3)
            async for number in numbers(request.node.name):
                if number == 2: break
        """
    )
    assert together.noted("test_it[trial-1]") == ["closed"]


def test_a_trial_that_spins_on_the_loop_lets_the_others_go_on(parity: Parity) -> None:
    together = parity(
        """
        done = []

        @pytest.mark.trial(n=4)
        async def test_it(request):
            if request.node.name.endswith("0]") and os.environ["TRIALS_IN_FLIGHT"] != "1":
                while len(done) < 3: await asyncio.sleep(0)
            done.append(request.node.name)
        """
    )
    assert together.counts == {"passed": 4}


def test_the_loops_exception_handler_and_debug_mode_stay_usable(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=3)
        async def test_it():
            await meet_async(3)
            loop = asyncio.get_running_loop()
            assert loop.get_debug() is True
            future = loop.create_future()
            loop.call_later(0.001, future.set_result, 1)
            assert await asyncio.wait_for(future, 10) == 1
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.001): await asyncio.Event().wait()
        """,
        "--asyncio-debug",
    )
    assert together.counts == {"passed": 3}


def test_uvloop_serves_trials_in_flight(parity: Parity) -> None:
    pytest.importorskip("uvloop")
    together = parity(
        """
        @pytest.mark.asyncio(loop_scope="session")
        @pytest.mark.trial(n=3)
        async def test_it():
            await meet_async(3)
            assert type(asyncio.get_running_loop()).__module__.startswith("uvloop")
            await asyncio.sleep(0.001)
        """,
        files={
            "conftest": """
                import uvloop

                @pytest.fixture(scope="session")
                def event_loop_policy(): return uvloop.EventLoopPolicy()
                """
        },
    )
    assert together.counts["passed"] == 3
