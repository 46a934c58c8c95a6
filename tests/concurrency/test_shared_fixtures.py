"""Fixtures of wider scopes: trials in flight share them, as trials one at a time do."""

from __future__ import annotations

import pytest

from .sessions import TOGETHER, Parity, Sessions


def test_wider_fixtures_are_set_up_once_and_torn_down_before_the_next_module_begins(
    parity: Parity,
) -> None:
    module = """
        @pytest.fixture(scope="module")
        def of_module(of_session):
            event(f"{__name__} up")
            yield __name__
            event(f"{__name__} down")

        @pytest.mark.trial(n=3)
        def test_sync(of_module): meet(3); event("used")

        @pytest.mark.trial(n=3)
        async def test_async(of_module): await meet_async(3); event("used")
        """
    together = parity(
        module,
        files={
            "test_zother": module,
            "conftest": """
                @pytest.fixture(scope="session")
                def of_session():
                    event("session up")
                    yield
                    event("session down")
                """,
        },
    )
    suite = ["test_suite up", *["used"] * 6, "test_suite down"]
    other = ["test_zother up", *["used"] * 6, "test_zother down"]
    assert together.noted() == ["session up", *suite, *other, "session down"]


def test_package_fixtures_live_as_long_as_their_package(parity: Parity) -> None:
    test = """
        @pytest.mark.trial(n=3)
        async def test_it(of_package): await meet_async(3); event(of_package)
        """
    together = parity(
        "def test_plain(): event('plain')",
        files={
            "one/__init__": "",
            "one/conftest": """
                @pytest.fixture(scope="package")
                def of_package():
                    event("package up")
                    yield "one"
                    event("package down")
                """,
            "one/test_a": test,
            "one/test_b": test,
        },
    )
    package = ["package up", *["one"] * 6, "package down"]
    assert together.noted() in ([*package, "plain"], ["plain", *package])


def test_async_session_fixtures_are_shared_by_trials_in_flight(parity: Parity) -> None:
    together = parity(
        """
        import pytest_asyncio

        @pytest_asyncio.fixture(scope="session", loop_scope="session")
        async def client():
            event("up")
            yield asyncio.get_running_loop()
            event("down")

        @pytest.mark.asyncio(loop_scope="session")
        @pytest.mark.trial(n=4)
        async def test_it(client):
            await meet_async(4)
            assert client is asyncio.get_running_loop()

        @pytest.mark.asyncio(loop_scope="session")
        async def test_plain(client): pass
        """
    )
    assert together.noted() == ["up", "down"]


def test_class_fixtures_and_xunit_methods_belong_to_their_class(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture(scope="class")
        def shared():
            event("shared up")
            yield []
            event("shared down")

        class TestOne:
            @classmethod
            def setup_class(cls): event(f"{cls.__name__} setup_class")

            @classmethod
            def teardown_class(cls): event(f"{cls.__name__} teardown_class")

            def setup_method(self, method):
                self.mine = object()
                event("setup_method", f"{type(self).__name__} {method.__name__} up")

            def teardown_method(self, method):
                event("teardown_method", f"{type(self).__name__} {method.__name__} down")

            @pytest.mark.trial(n=3)
            def test_sync(self, shared):
                mine = self.mine
                meet(3)
                shared.append(mine)
                assert self.mine is mine

            @pytest.mark.trial(n=3)
            async def test_async(self, shared):
                mine = self.mine
                await meet_async(3)
                assert self.mine is mine

        class TestTwo(TestOne):
            pass

        def setup_module(): event("setup_module")
        def teardown_module(): event("teardown_module")
        def setup_function(function): event("setup_function", function.__name__)
        def teardown_function(function): event("teardown_function", function.__name__)

        @pytest.mark.trial(n=1)
        def test_function(): pass
        """,
    )
    assert together.counts == {"passed": 13}
    assert together.noted("TestOne test_async down") == ["teardown_method"] * 3
    assert together.noted("test_function") == ["setup_function", "teardown_function"]
    of_class = ["{} setup_class", "shared up", "shared down", "{} teardown_class"]
    assert together.noted() == [
        "setup_module",
        *(what.format("TestOne") for what in of_class),
        *(what.format("TestTwo") for what in of_class),
        "teardown_module",
    ]


def test_parametrized_shared_fixtures_live_one_value_after_the_other(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture(scope="session", params=["small", "large"])
        def model(request):
            event(f"{request.param} up")
            yield request.param
            event(f"{request.param} down")

        @pytest.mark.trial(n=3)
        def test_it(model): meet(3); event(model)
        """
    )
    assert together.noted() == [
        "small up", *["small"] * 3, "small down", "large up", *["large"] * 3, "large down"
    ]  # fmt: skip


def test_a_shared_fixture_that_fails_fails_every_trial_that_needs_it(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture(scope="module")
        def broken():
            event("tried")
            raise ConnectionError("no server")

        @pytest.fixture(scope="module")
        async def broken_async():
            await asyncio.sleep(0)
            event("tried async")
            raise ConnectionError("no server either")

        @pytest.mark.trial(n=4)
        def test_sync(broken): pass

        @pytest.mark.trial(n=4)
        async def test_async(broken_async): pass
        """
    )
    assert together.counts == {"errors": 8}
    assert together.noted() == ["tried", "tried async"]


def test_a_shared_fixture_that_skips_skips_every_trial_that_needs_it(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture(scope="session")
        def licensed(): pytest.skip("no licence")

        @pytest.mark.trial(n=3)
        async def test_it(licensed): pass
        """
    )
    assert together.counts == {"skipped": 3}


def test_contextvars_of_fixtures_of_each_scope_reach_the_trials(parity: Parity) -> None:
    together = parity(
        """
        of_session = contextvars.ContextVar("of_session")
        of_module = contextvars.ContextVar("of_module")
        own = contextvars.ContextVar("own")

        @pytest.fixture(scope="session")
        def session(): of_session.set("s"); yield

        @pytest.fixture(scope="module")
        def module(session): of_module.set("m"); yield

        @pytest.fixture
        def sync_own(module, request):
            own.set(request.node.name)
            yield
            assert own.get() == request.node.name

        @pytest.fixture
        async def async_own(module, request):
            own.set(request.node.name)
            yield

        def seen(): return of_session.get(), of_module.get(), own.get()

        @pytest.mark.trial(n=4)
        def test_sync(sync_own, request):
            meet(4)
            assert seen() == ("s", "m", request.node.name)

        @pytest.mark.trial(n=4)
        async def test_async(async_own, request):
            await meet_async(4)
            assert seen() == ("s", "m", request.node.name)
            assert await asyncio.to_thread(seen) == ("s", "m", request.node.name)
        """
    )
    assert together.counts == {"passed": 8}


def test_trials_that_ask_for_shared_fixtures_in_different_orders_do_not_block_each_other(
    parity: Parity,
) -> None:
    together = parity(
        """
        import pytest_asyncio

        def slow(name):
            @pytest_asyncio.fixture(scope="session", loop_scope="session", name=name)
            async def fixture():
                await asyncio.sleep(0.01)
                event(f"{name} up", name)
                yield name
                event(f"{name} down", name)
            return fixture

        a, b, c = slow("a"), slow("b"), slow("c")

        pytestmark = [pytest.mark.trial(n=3), pytest.mark.asyncio(loop_scope="session")]

        async def test_ab(a, b): await meet_async(3)
        async def test_ba(b, a): await meet_async(3)
        async def test_cba(c, b, a): await meet_async(3)
        async def test_bc(b, c): await meet_async(3)
        """
    )
    assert together.counts == {"passed": 12}
    assert together.noted("b") == ["b up", "b down"]


@pytest.mark.parametrize("in_flight", [1, TOGETHER])
def test_a_failing_tear_down_of_a_shared_fixture_is_reported_once(
    sessions: Sessions, in_flight: int
) -> None:
    # By whoever of its users ends last.
    sessions.write(
        """
        @pytest.fixture(scope="module")
        def shared():
            yield
            event("closing")
            raise OSError("cannot close")

        @pytest.mark.trial(n=4)
        def test_it(shared): meet(4); record("safe"); event("body")
        """,
        files={"test_zother": "def test_after(): event('after')"},
    )
    session = sessions.run(in_flight=in_flight)
    assert session.counts == {"passed": 5, "errors": 1}
    assert session.noted() == ["body"] * 4 + ["closing", "after"]
    outcomes = [session.record(f"test_it[trial-{index}]")["outcome"] for index in range(4)]
    assert sorted(outcomes) == ["error", "passed", "passed", "passed"]
