"""The options of how trials run: the command line beats the configuration, wrong values stop."""

from __future__ import annotations

import math

import pytest

from seatrial.plugin.keys import plan_key
from seatrial.plugin.trial_options import TrialOptions, trial_options


def options_of(pytester: pytest.Pytester, *arguments: str) -> TrialOptions:
    return trial_options(pytester.parseconfig(*arguments))


def test_without_options_trials_run_one_by_one_and_as_long_as_they_like(
    pytester: pytest.Pytester,
) -> None:
    assert options_of(pytester) == TrialOptions(1, None, None)


def test_the_command_line_gives_every_option(pytester: pytest.Pytester) -> None:
    options = options_of(
        pytester, "--trial-concurrency=20", "--trial-timeout=0.5", "--trial-rate=3/s"
    )
    assert options == TrialOptions(20, 0.5, 3.0)


def test_the_configuration_gives_every_option(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntrial_concurrency = auto\ntrial_timeout = 1e2\ntrial_rate = 30/m\n")
    assert options_of(pytester) == TrialOptions(32, 100.0, 0.5)


def test_the_command_line_beats_the_configuration(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntrial_concurrency = 7\ntrial_timeout = 1\ntrial_rate = 1\n")
    options = options_of(pytester, "--trial-timeout=2", "--trial-rate=2")
    assert options == TrialOptions(7, 2.0, 2.0)


@pytest.mark.parametrize(
    ("text", "per_second"), [("5", 5.0), ("0.5/s", 0.5), ("90/m", 1.5), ("1/h", 1 / 3600)]
)
def test_a_rate_is_per_second_whatever_it_was_given_in(
    pytester: pytest.Pytester, text: str, per_second: float
) -> None:
    assert options_of(pytester, f"--trial-rate={text}").rate_per_s == per_second


_WRONG = [
    ("concurrency", value, "expected a whole number of at least 1, or auto")
    for value in ("0", "-1", "1.5", "many", "", "AUTO", "1_0", "٣", "9" * 5000)
]
_WRONG += [
    ("timeout", value, "expected a positive finite number of seconds, such as 60")
    for value in ("0", "-1", "nan", "inf", "1e999", "", "5s")
]
_WRONG += [
    ("rate", value, "expected a positive finite number of trials per second, minute or hour")
    for value in ("0", "-1/s", "nan", "inf/s", "5/", "5/d", "/s", "", "5/s/s", "5e-324/h")
]


@pytest.mark.parametrize(("name", "value", "expected"), _WRONG)
def test_a_wrong_option_is_one_usage_error_that_says_what_is_expected(
    pytester: pytest.Pytester, name: str, value: str, expected: str
) -> None:
    result = pytester.runpytest(f"--trial-{name}={value}")
    (line,) = [line for line in result.errlines if line.startswith("ERROR: ")]
    assert line.startswith(f"ERROR: --trial-{name}={value!r}, {expected}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("name", ["concurrency", "timeout", "rate"])
def test_a_wrong_value_in_the_configuration_is_named_by_its_key(
    pytester: pytest.Pytester, name: str
) -> None:
    pytester.makeini(f"[pytest]\ntrial_{name} = soon\n")
    result = pytester.runpytest()
    result.stderr.fnmatch_lines([f"ERROR: trial_{name}='soon', expected *"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_the_help_lists_the_options(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--help")
    result.stdout.fnmatch_lines(
        [
            "trials of agents:",
            "*--trial-concurrency=K*",
            "*--trial-timeout=SECONDS*",
            "*--trial-rate=N/s*",
        ]
    )


def test_auto_and_the_rate_are_shared_among_workers(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytest.importorskip("greenlet")
    pytester.makepyfile(
        """
        import pytest
        from seatrial.plugin.trial_options import trial_options

        @pytest.mark.parametrize("n", range(4))
        def test_it(pytestconfig, n):
            assert trial_options(pytestconfig).concurrency == 16
            assert trial_options(pytestconfig).timeout_s == 9
            assert trial_options(pytestconfig).rate_per_s == 1
        """
    )
    arguments = ("--trial-concurrency=auto", "--trial-timeout=9", "--trial-rate=2")
    pytester.runpytest("-n2", *arguments).assert_outcomes(passed=4)


@pytest.mark.parametrize("marker", ["trial(n=2{})", "kensa(trials=2{})"])
def test_a_marker_limits_its_trials(pytester: pytest.Pytester, marker: str) -> None:
    text = """
    import pytest

    @pytest.mark.{}
    def test_it(): pass
    """
    items, _ = pytester.inline_genitems(
        pytester.makepyfile(test_plain=text.format(marker.format("")))
    )
    plans = [item.stash[plan_key] for item in items]
    assert [(plan.concurrency, plan.timeout_s) for plan in plans] == [(None, None)] * 2

    limited = marker.format(", concurrency=3, timeout_s=2")
    items, _ = pytester.inline_genitems(pytester.makepyfile(test_limited=text.format(limited)))
    plans = [item.stash[plan_key] for item in items]
    assert [(plan.concurrency, plan.timeout_s) for plan in plans] == [(3, 2.0)] * 2
    assert all(isinstance(plan.timeout_s, float) for plan in plans)
    assert all(math.isfinite(plan.timeout_s or 0) for plan in plans)


def test_what_limits_a_trial_is_no_part_of_its_policy(pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile(
        """
        import pytest

        @pytest.mark.trial(n=1, concurrency=3, timeout_s=2)
        def test_it(): pass
        """
    )
    items, _ = pytester.inline_genitems(path)
    assert items[0].stash[plan_key].policy == {"threshold": 1.0}
