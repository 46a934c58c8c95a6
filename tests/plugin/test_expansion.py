"""One pytest item per trial, named as documented, and ordinary to all of pytest's selection."""

from __future__ import annotations

import pytest

EVALS = """
    import pytest
    from kensa.pytest import kensa_case

    @pytest.mark.kensa(trials=2)
    @pytest.mark.parametrize("case", [kensa_case(id="a", input=1), kensa_case(id="b", input=2)])
    def test_eval(case):
        assert case.run(lambda case: case.input) == case.input

    @pytest.mark.kensa
    def test_single(): pass
"""
SAFETY = """
    import pytest

    @pytest.fixture(params=["x", "y"])
    def letter(request): return request.param

    @pytest.mark.trial(n=2)
    def test_plain(): pass

    @pytest.mark.trial(n=2)
    def test_parametrized_fixture(letter): pass

    class TestGroup:
        pytestmark = pytest.mark.trial(n=2)
        def test_inherits(self): pass
        @pytest.mark.trial(n=1)
        def test_overrides(self): pass
"""


def collected(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


def test_eval_trials_are_numbered_from_one_after_the_case(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_e=EVALS)
    result = pytester.runpytest("--collect-only", "-q")
    assert collected(result) == [
        "test_e.py::test_eval[a-trial1]",
        "test_e.py::test_eval[a-trial2]",
        "test_e.py::test_eval[b-trial1]",
        "test_e.py::test_eval[b-trial2]",
        "test_e.py::test_single[trial1]",
    ]
    result.stdout.no_fnmatch_line("*Kensa summary*")


def test_safety_trials_are_numbered_from_zero_after_all_parameters(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(test_s=SAFETY)
    result = pytester.runpytest("--collect-only", "-q")
    assert collected(result) == [
        "test_s.py::test_plain[trial-0]",
        "test_s.py::test_plain[trial-1]",
        "test_s.py::test_parametrized_fixture[x-trial-0]",
        "test_s.py::test_parametrized_fixture[x-trial-1]",
        "test_s.py::test_parametrized_fixture[y-trial-0]",
        "test_s.py::test_parametrized_fixture[y-trial-1]",
        "test_s.py::TestGroup::test_inherits[trial-0]",
        "test_s.py::TestGroup::test_inherits[trial-1]",
        "test_s.py::TestGroup::test_overrides[trial-0]",
    ]


def test_a_module_marker_makes_trials_of_every_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_m="""
        import pytest
        pytestmark = [pytest.mark.trial(n=2)]
        def test_one(): pass
        def test_two(): pass
        """
    )
    result = pytester.runpytest("-q")
    result.assert_outcomes(passed=4)


def test_one_trial_can_be_selected_by_its_id(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_e=EVALS)
    result = pytester.runpytest("-v", "test_e.py::test_eval[b-trial2]")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["0/1 aggregate case(s) passed", "PARTIAL test_e.py::test_eval[[]b]: 1/1 passed, *"]
    )
    assert result.ret == 0


@pytest.mark.parametrize(
    ("arguments", "passed", "deselected"),
    [
        (["-k", "trial1"], 3, 2),
        (["-k", "b"], 2, 3),
        (["--deselect", "test_e.py::test_eval[a-trial1]"], 4, 1),
    ],
)
def test_selection_by_keyword_and_deselection_see_single_trials(
    pytester: pytest.Pytester, arguments: list[str], passed: int, deselected: int
) -> None:
    pytester.makepyfile(test_e=EVALS)
    result = pytester.runpytest(*arguments)
    result.assert_outcomes(passed=passed, deselected=deselected)
    assert result.ret == 0


def test_case_ids_that_look_like_trials_stay_apart(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_trial1="""
        import pytest
        from kensa.pytest import kensa_case

        @pytest.mark.kensa(trials=2)
        @pytest.mark.parametrize(
            "case", [kensa_case(id=name, input=0) for name in ("trial1", "trial2", "x-trial1")]
        )
        def test_trial1_refund(case):
            assert case.id != "trial2"
        """
    )
    result = pytester.runpytest("-q")
    result.stdout.fnmatch_lines(
        [
            "2/3 aggregate case(s) passed",
            "PASS test_trial1.py::test_trial1_refund[[]trial1]: 2/2 passed, 0 failed, 0 errored",
            "FAIL test_trial1.py::test_trial1_refund[[]trial2]: 0/2 passed, 2 failed, 0 errored",
            "PASS test_trial1.py::test_trial1_refund[[]x-trial1]: 2/2 passed, 0 failed, 0 errored",
        ]
    )


def test_a_plugin_that_parametrizes_after_us_does_not_merge_groups(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.hookimpl(trylast=True)
        def pytest_generate_tests(metafunc):
            if "late" in metafunc.fixturenames:
                metafunc.parametrize("late", ["p", "q"])
        """
    )
    pytester.makepyfile(
        test_l="""
        import pytest

        @pytest.mark.kensa(trials=2)
        def test_late(late):
            assert late == "p"
        """
    )
    result = pytester.runpytest("-q")
    result.stdout.fnmatch_lines(
        [
            "1/2 aggregate case(s) passed",
            "PASS test_l.py::test_late[[]p]: 2/2 passed, *",
            "FAIL test_l.py::test_late[[]q]: 0/2 passed, 2 failed, *",
        ]
    )


def test_each_trial_gets_fresh_function_fixtures_and_shares_wider_ones(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="module")
        def shared(): return []

        @pytest.fixture
        def fresh(): return []

        @pytest.mark.trial(n=3)
        def test_it(shared, fresh, request):
            fresh.append(1)
            shared.append(1)
            assert len(fresh) == 1

        def test_after(shared):
            assert len(shared) == 3
        """
    )
    pytester.runpytest("-q").assert_outcomes(passed=4)


def test_async_tests_and_their_plain_async_fixtures_run_without_configuration(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import asyncio, pytest

        @pytest.fixture
        async def client():
            await asyncio.sleep(0)
            yield "client"

        @pytest.mark.trial(n=2)
        async def test_trial(client):
            assert client == "client"

        @pytest.mark.harm("custom")
        async def test_harm(client):
            assert client == "client"

        class TestEvals:
            pytestmark = pytest.mark.kensa(trials=2)
            async def test_eval(self, client):
                assert client == "client"
        """
    )
    result = pytester.runpytest("-q", "-W", "error")
    result.assert_outcomes(passed=5)


def test_async_tests_of_others_keep_the_mode_that_the_user_chose(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.trial(n=1)
        async def test_ours(): pass

        async def test_theirs(): pass
        """
    )
    result = pytester.runpytest("-q")
    outcomes = result.parseoutcomes()
    assert outcomes.pop("passed") == 1
    assert outcomes.pop("failed", 0) + outcomes.pop("skipped", 0) == 1  # as plain pytest does


def test_anyio_users_keep_anyio(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def anyio_backend(): return "asyncio"

        @pytest.fixture
        async def value(): return 1

        @pytest.mark.anyio
        @pytest.mark.trial(n=2)
        async def test_it(value, request):
            assert request.node.get_closest_marker("asyncio") is None
            assert value == 1
        """
    )
    pytester.runpytest("-q").assert_outcomes(passed=2)
