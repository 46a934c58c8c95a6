"""Fixtures of every kind and scope, with many trials in flight as with one."""

from __future__ import annotations

import pytest

from .sessions import TOGETHER, Parity, Sessions


def test_every_trial_has_function_fixtures_of_its_own_and_tears_them_down_in_reverse(
    parity: Parity,
) -> None:
    together = parity(
        """
        @pytest.fixture
        def outer(request):
            event("outer up", request.node.name)
            yield [request.node.name]
            event("outer down", request.node.name)

        @pytest.fixture
        def inner(outer, request):
            event("inner up", request.node.name)
            request.addfinalizer(lambda: event("inner down", request.node.name))
            outer.append("inner")
            return outer

        @pytest.mark.trial(n=4)
        def test_sync(inner, outer, request):
            meet(4)
            assert inner is outer == [request.node.name, "inner"]
            event("body", request.node.name)

        @pytest.mark.trial(n=4)
        async def test_async(inner, outer, request):
            await meet_async(4)
            assert inner is outer == [request.node.name, "inner"]
            event("body", request.node.name)
        """
    )
    assert together.counts == {"passed": 8}
    assert together.recording.most_in_flight >= 4
    for name in ("test_sync[trial-3]", "test_async[trial-3]"):
        assert together.noted(name) == ["outer up", "inner up", "body", "inner down", "outer down"]


def test_async_fixtures_of_a_trial_are_set_up_and_torn_down_beside_those_of_others(
    parity: Parity,
) -> None:
    together = parity(
        """
        @pytest.fixture
        async def client(request):
            await meet_async(4, "up")
            event("up", request.node.name)
            yield {"of": request.node.name}
            await meet_async(3, "down")
            event("down", request.node.name)

        @pytest.fixture
        async def plain(client):
            await asyncio.sleep(0)
            return client["of"]

        @pytest.mark.trial(n=4)
        async def test_it(plain, request):
            await meet_async(4)
            assert plain == request.node.name
        """
    )
    assert together.counts == {"passed": 4}
    assert together.noted("test_it[trial-0]") == ["up", "down"]


def test_sync_fixtures_of_sync_trials_may_block_beside_each_other(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture
        def server(request):
            meet(20, "up")
            yield request.node.name
            meet(19, "down")  # the last one waits for the others

        @pytest.mark.trial(n=20)
        def test_it(server, request):
            meet(20, "body")
            assert server == request.node.name
        """
    )
    assert together.counts == {"passed": 20}
    assert together.recording.most_in_flight == 20


def test_a_sync_trial_may_use_async_fixtures(parity: Parity) -> None:
    together = parity(
        """
        import pytest_asyncio

        @pytest_asyncio.fixture
        async def client(request):
            await asyncio.sleep(0)
            yield request.node.name
            event("down", request.node.name)

        @pytest.mark.trial(n=3)
        def test_it(client, request):
            meet(3)
            assert client == request.node.name
        """
    )
    assert together.counts == {"passed": 3}
    assert together.noted("test_it[trial-2]") == ["down"]


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


def test_a_class_fixture_without_a_class_is_each_trials_own(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture(scope="class")
        def of_class(request):
            event("up")
            return object()

        seen = []

        @pytest.mark.trial(n=3)
        def test_it(of_class):
            meet(3)
            assert of_class not in seen
            seen.append(of_class)
        """
    )
    assert together.counts == {"passed": 3}
    assert together.noted() == ["up"] * 3


def test_autouse_fixtures_and_usefixtures_are_each_trials_own(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture(autouse=True)
        def always(request):
            event("always up", request.node.name)
            yield
            event("always down", request.node.name)

        @pytest.fixture
        def asked(request):
            event("asked up", request.node.name)
            yield
            event("asked down", request.node.name)

        @pytest.mark.usefixtures("asked")
        @pytest.mark.trial(n=3)
        def test_it(request):
            meet(3)
            event("body", request.node.name)
        """
    )
    expected = ["always up", "asked up", "body", "asked down", "always down"]
    assert together.noted("test_it[trial-1]") == expected


def test_parametrized_fixtures_of_function_scope_are_each_trials_own(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture(params=["red", "blue"])
        def colour(request):
            yield f"{request.param} of {request.node.name}"
            event("down", request.node.name)

        @pytest.mark.trial(n=2)
        def test_it(colour, request):
            meet(4)
            assert colour.endswith(request.node.name)
            record("safe", colour)
        """
    )
    assert together.counts == {"passed": 4}
    (result,) = together.record("test_it[blue-trial-1]")["results"]
    assert result["summary"] == "blue of test_it[blue-trial-1]"


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


def test_an_overriding_fixture_sees_the_one_that_it_overrides(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture
        def value(value, request):
            value.append("module")
            yield value
            event("module down", request.node.name)

        @pytest.fixture(params=[1, 2])
        def shared(shared, request): return (shared, request.param)

        class TestIt:
            @pytest.fixture
            def value(self, value): return [*value, "class"]

            @pytest.mark.trial(n=2)
            def test_it(self, value, shared):
                meet(4)
                assert value == ["conftest", "module", "class"]
                assert shared[0] == "session"
        """,
        files={
            "conftest": """
                @pytest.fixture
                def value(request):
                    yield ["conftest"]
                    event("conftest down", request.node.name)

                @pytest.fixture(scope="session")
                def shared(): return "session"
                """
        },
    )
    assert together.counts == {"passed": 4}
    assert together.noted("test_it[2-trial-1]") == ["module down", "conftest down"]


def test_fixtures_can_be_requested_while_a_trial_runs(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture
        def own(request):
            event("own up", request.node.name)
            yield request.node.name
            event("own down", request.node.name)

        @pytest.fixture(scope="module")
        def shared():
            event("shared up")
            yield "shared"
            event("shared down")

        @pytest.mark.trial(n=4)
        def test_sync(request):
            meet(4)
            assert request.getfixturevalue("own") == request.node.name
            assert request.getfixturevalue("shared") == "shared"
            assert request.getfixturevalue("own") == request.node.name

        @pytest.mark.trial(n=4)
        async def test_async(request):
            await meet_async(4)
            assert request.getfixturevalue("own") == request.node.name
            assert request.getfixturevalue("shared") == "shared"

        @pytest.mark.trial(n=2)
        def test_unknown(request):
            meet(2)
            request.getfixturevalue("nothing")
        """
    )
    assert together.counts == {"passed": 8, "failed": 2}
    assert together.noted() == ["shared up", "shared down"]
    assert together.noted("test_async[trial-2]") == ["own up", "own down"]


def test_finalizers_run_in_reverse_although_one_of_them_fails(parity: Parity) -> None:
    together = parity(
        """
        def failing(): raise OSError("cannot clean up")

        @pytest.fixture
        def own(request):
            for number in (1, 2):
                request.addfinalizer(lambda n=number: event(f"final {n}", request.node.name))
                request.addfinalizer(failing)

        @pytest.mark.trial(n=3)
        def test_it(own, request):
            request.addfinalizer(lambda: event("of the body", request.node.name))
            request.node.addfinalizer(lambda: event("of the node", request.node.name))
            meet(3)
            record("safe")
        """
    )
    assert together.counts == {"passed": 3, "errors": 3}
    assert together.noted("test_it[trial-1]") == [
        "of the node",
        "of the body",
        "final 2",
        "final 1",
    ]
    assert "cannot clean up" in str(together.report("test_it[trial-1]", "teardown")["longrepr"])


def test_a_failing_fixture_is_the_error_of_its_own_trial(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture
        def up(request):
            yield
            event("down", request.node.name)

        @pytest.fixture
        def sync_client(up, request):
            meet(4)
            if request.node.name.endswith("1]"): raise ConnectionError("no database")

        @pytest.fixture
        async def async_client(up, request):
            await meet_async(4)
            if request.node.name.endswith("2]"): raise ConnectionError("no network")

        @pytest.mark.trial(n=4)
        def test_sync(sync_client): record("safe")

        @pytest.mark.trial(n=4)
        async def test_async(async_client): record("safe")
        """
    )
    assert together.counts == {"passed": 6, "errors": 2}
    assert [r["when"] for r in together.reports("test_sync[trial-1]")] == ["setup", "teardown"]
    assert together.record("test_async[trial-2]")["failure"]["kind"] == "setup"
    assert together.noted("test_async[trial-2]") == ["down"]


def test_a_failing_tear_down_amends_the_record_of_its_own_trial(parity: Parity) -> None:
    together = parity(
        """
        @pytest.fixture
        def sync_client(request):
            yield
            if request.node.name.endswith("1]"): raise OSError("cannot close")

        @pytest.fixture
        async def async_client(request):
            yield
            await meet_async(3, "down")
            if request.node.name.endswith("2]"): raise OSError("cannot hang up")
            if request.node.name.endswith("3]"): record("unsafe", "left the door open")

        @pytest.mark.trial(n=4)
        def test_sync(sync_client): meet(4); record("safe")

        @pytest.mark.trial(n=4)
        async def test_async(async_client): await meet_async(4); record("safe")
        """
    )
    assert together.record("test_sync[trial-1]")["failure"]["kind"] == "teardown"
    assert together.record("test_async[trial-2]")["failure"]["message"] == "OSError: cannot hang up"
    assert together.record("test_async[trial-3]")["outcome"] == "failed"
    assert together.record("test_async[trial-0]")["outcome"] == "passed"


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


def test_every_trial_has_a_temporary_folder_of_its_own(parity: Parity) -> None:
    together = parity(
        """
        @pytest.mark.trial(n=4)
        def test_it(tmp_path, tmp_path_factory, request):
            (tmp_path / "name").write_text(request.node.name)
            meet(4)
            assert (tmp_path / "name").read_text() == request.node.name
            assert os.listdir(tmp_path) == ["name"]
        """
    )
    assert together.counts == {"passed": 4}


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
