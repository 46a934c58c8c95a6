from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.child import ChildError, Command, Measurement
from benchmarks.pairing import Pairs, run_pairs


def pairs(*walls: tuple[float, float]) -> Pairs:
    """Pairs of these seconds, with as many seconds of processor and megabytes."""
    ours, theirs = zip(*walls, strict=True)
    return Pairs(
        tuple(Measurement(wall, wall, round(wall * 1e6)) for wall in ours),
        tuple(Measurement(wall, wall, round(wall * 1e6)) for wall in theirs),
    )


def test_each_is_compared_with_its_own_neighbour_and_not_with_the_median() -> None:
    # The machine became ten times slower in between; every pair says the same all the same.
    figure = pairs((1.0, 0.5), (2.0, 1.0), (20.0, 10.0)).time("trials", limit=1.3)
    assert figure.compared is not None
    assert figure.compared.values == (2.0, 2.0, 2.0)
    assert (figure.measured, figure.reference) == ("2.00 s", "1.00 s")
    assert figure.limit == 1.3


def test_seconds_beyond_start_up_are_a_difference() -> None:
    figure = pairs((2.5, 1.0), (3.5, 1.5)).time_beyond("trials", limit=1.5)
    assert figure.compared is not None
    assert figure.compared.values == (1.5, 2.0)
    assert figure.unit == "s"


def test_memory_and_processor_time_are_ratios_too() -> None:
    measured = pairs((3.0, 2.0))
    for figure in (measured.memory("trials", limit=1.5), measured.processor("trials")):
        assert figure.compared is not None
        assert figure.compared.values == (1.5,)
    assert measured.memory("trials").measured == "3 MB"


def test_less_than_a_second_is_told_in_milliseconds_worth_of_digits() -> None:
    figure = pairs((0.1234, 0.0999)).time("start-up")
    assert (figure.measured, figure.reference) == ("0.123 s", "0.100 s")


def test_commands_take_turns_and_warm_ups_are_not_counted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    folder = tmp_path / "folder"
    folder.mkdir()

    def command(letter: str) -> Command:
        program = f"open({str(log)!r}, 'a').write({letter!r})"
        return Command(words=(sys.executable, "-c", program), folder=folder)

    measured = run_pairs(command("A"), command("B"), pairs=3, warm_ups=2)
    assert log.read_text(encoding="utf-8") == "AB" * 5
    assert len(measured.measured) == len(measured.reference) == 3


def test_a_command_that_fails_ends_the_pairs(tmp_path: Path) -> None:
    good = Command(words=(sys.executable, "-c", ""), folder=tmp_path)
    bad = Command(
        words=(sys.executable, "-c", "raise SystemExit('no such option')"), folder=tmp_path
    )
    with pytest.raises(ChildError, match=r"ended with 1, expected 0: no such option"):
        run_pairs(good, bad, pairs=2)
