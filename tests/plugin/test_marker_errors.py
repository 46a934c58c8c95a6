"""Wrong markers and options: one clear message, the right exit status, nothing else harmed."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("trial", "needs n, the number of trials: a whole number of at least 1"),
        ("trial(threshold=0.5)", "needs n"),
        ("trial(n=0)", "n=0, expected a whole number of at least 1"),
        ("trial(n=-1)", "n=-1, expected a whole number"),
        ("trial(n=2.0)", "n=2.0, expected a whole number"),
        ("trial(n=True)", "n=True, expected a whole number"),
        ("trial(n='3')", "n='3', expected a whole number"),
        ("trial(n=None)", "n=None, expected a whole number"),
        ("trial(3, n=3)", "got n twice"),
        ("trial(3, 0.5)", "takes one positional argument (n)"),
        ("trial(n=3, threshold='90%')", "threshold='90%', expected a rate in (0, 1], such as 0.9"),
        ("trial(n=3, threshold=0)", "threshold=0, expected a rate"),
        ("trial(n=3, threshold=1.01)", "threshold=1.01, expected a rate"),
        ("trial(n=3, threshold=float('nan'))", "threshold=nan, expected a rate"),
        ("trial(n=3, threshold=True)", "threshold=True, expected a rate"),
        (
            "trial(n=3, treshold=0.5)",
            "has no argument 'treshold'; it takes n, threshold, concurrency, timeout_s",
        ),
        ("trial(n=3, concurrency=0)", "concurrency=0, expected a whole number of at least 1"),
        ("trial(n=3, concurrency=True)", "concurrency=True, expected a whole number"),
        ("trial(n=3, concurrency='auto')", "concurrency='auto', expected a whole number"),
        ("trial(n=3, concurrency=None)", "concurrency=None, expected a whole number"),
        ("trial(n=3, timeout_s=0)", "timeout_s=0, expected a positive finite number of seconds"),
        ("trial(n=3, timeout_s=-1.5)", "timeout_s=-1.5, expected a positive finite number"),
        ("trial(n=3, timeout_s='5')", "timeout_s='5', expected a positive finite number"),
        ("trial(n=3, timeout_s=True)", "timeout_s=True, expected a positive finite number"),
        ("trial(n=3, timeout_s=None)", "timeout_s=None, expected a positive finite number"),
        ("trial(n=3, timeout_s=float('nan'))", "timeout_s=nan, expected a positive finite number"),
        ("trial(n=3, timeout_s=float('inf'))", "timeout_s=inf, expected a positive finite number"),
        ("trial(n=3, timeout_s=10**400)", "expected a positive finite number of seconds"),
        ("kensa(trials=0)", "trials=0, expected a whole number of at least 1"),
        ("kensa(trials=True)", "trials=True, expected a whole number"),
        ("kensa(trials='2')", "trials='2', expected a whole number"),
        ("kensa(n=2)", "has no argument 'n'; it takes trials, concurrency, timeout_s"),
        ("kensa(concurrency=0)", "concurrency=0, expected a whole number of at least 1"),
        ("kensa(timeout_s='5')", "timeout_s='5', expected a positive finite number of seconds"),
        ("kensa(1, 2)", "takes one positional argument (trials)"),
        ("harm()", "needs at least one category"),
        ("harm(5)", "5 is not a category"),
        ("harm('')", "'' is not a category"),
        ("harm('a', level=2)", "takes categories only, got the argument 'level'"),
    ],
)
def test_a_wrong_marker_stops_the_collection_of_its_file_and_names_the_test(
    pytester: pytest.Pytester, mark: str, message: str
) -> None:
    pytester.makepyfile(
        test_bad=f"""
        import pytest

        @pytest.mark.{mark}
        def test_it(): pass
        """,
        test_good="def test_fine(): pass",
    )
    result = pytester.runpytest()
    output = result.stdout.str()
    assert "test_bad.py::test_it: @pytest.mark." in output
    assert message in output
    assert "Traceback" not in output
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_both_markers_on_one_test_are_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.kensa
        @pytest.mark.trial(n=2)
        def test_it(): pass
        """
    )
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(["*::test_it: *@pytest.mark.* cannot be on one test*"])
    assert result.ret == pytest.ExitCode.INTERRUPTED


@pytest.mark.parametrize("marker", ["trial(n=2)", "kensa(trials=2)"])
def test_a_unittest_method_fails_alone_with_a_clear_error(
    pytester: pytest.Pytester, marker: str
) -> None:
    pytester.makepyfile(
        f"""
        import unittest, pytest

        class TestOld(unittest.TestCase):
            @pytest.mark.{marker}
            def test_it(self): pass
            def test_other(self): pass

        def test_fine(): pass
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*test_it: @pytest.mark.* needs a plain test function*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_doctest_under_a_module_marker_fails_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        '''
        """
        >>> 1
        1
        """
        import pytest
        pytestmark = pytest.mark.trial(n=2)
        def test_it(): pass
        '''
    )
    result = pytester.runpytest("--doctest-modules")
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] >= 2
    assert result.ret != pytest.ExitCode.INTERNAL_ERROR


def test_a_marker_on_one_parameter_set_fails_that_test_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.trial(n=3))])
        def test_it(x): pass
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*on a single parameter set cannot make trials*"])


@pytest.mark.parametrize(
    "arguments",
    [["--kensa-report=yaml"], ["--kensa-no-judge=1"], ["--kensa-unknown"]],
)
def test_a_wrong_option_is_a_usage_error(pytester: pytest.Pytester, arguments: list[str]) -> None:
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_run_id_that_cannot_name_a_file_is_a_usage_error(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEATRIAL_RUN_ID", "../outside")
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest()
    result.stderr.fnmatch_lines(["ERROR: SEATRIAL_RUN_ID='../outside' cannot name a run*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_missing_harness_is_an_error_of_the_trial(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_e="""
        import pytest

        @pytest.mark.kensa(trials=2)
        def test_it(kensa_run): pass
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            "*fixture 'kensa_run' not found*",
            "ERROR test_e.py::test_it: 0/2 passed, 0 failed, 2 errored",
        ]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_an_unreadable_conftest_is_pytests_own_usage_error(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def broken(:")
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest_subprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*conftest.py*"])


@pytest.mark.parametrize("face", ["rampart", "kensa"])
def test_a_face_without_the_engine_is_a_usage_error(pytester: pytest.Pytester, face: str) -> None:
    other = {"rampart": "kensa", "kensa": "rampart"}[face]
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest("-p", "no:seatrial", "-p", f"no:{other}")
    result.stderr.fnmatch_lines(
        [f"ERROR: the plugin {face} needs the plugin seatrial: drop -p no:seatrial, or add *"]
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
