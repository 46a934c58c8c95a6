"""Fixtures of function scope: each trial has its own, with many in flight as with one."""

from __future__ import annotations

from .sessions import Parity


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
