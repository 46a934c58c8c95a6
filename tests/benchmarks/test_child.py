from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.child import ChildError, Command, measure
from benchmarks.environments import ROOT


def python(folder: Path, program: str, passed: int | None = None) -> Command:
    return Command(words=(sys.executable, "-c", program), folder=folder, passed=passed)


def measured_alone(folder: Path, *programs: str) -> list[tuple[float, int]]:
    """Processor time and peak of programs, measured from a process as small as the benchmark's.

    A child begins with the peak of its parent, and that of a test session is large.
    """
    words = (sys.executable, "-c")
    measuring = (
        "import pathlib\n"
        "from benchmarks.child import Command, measure\n"
        f"for program in {programs!r}:\n"
        f"    command = Command(words=(*{words!r}, program), folder=pathlib.Path({str(folder)!r}))\n"
        "    taken = measure(command)\n"
        "    print(taken.cpu_s, taken.peak_bytes)\n"
    )
    ended = subprocess.run(
        [*words, measuring], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    lines = (line.split() for line in ended.stdout.splitlines())
    return [(float(cpu_s), int(peak_bytes)) for cpu_s, peak_bytes in lines]


def inner(program: str) -> str:
    """A program that runs another one and waits for it."""
    return f"import subprocess, sys; subprocess.run([sys.executable, '-c', {program!r}])"


def test_the_peak_of_a_child_is_its_own_and_not_that_of_an_earlier_one(tmp_path: Path) -> None:
    touch = "b'x' * 100_000_000"
    small, large, nested, again = measured_alone(tmp_path, "", touch, inner(touch), "")
    assert small[1] < 50_000_000
    assert again[1] < 50_000_000
    assert 100_000_000 < large[1] < 150_000_000
    assert 100_000_000 < nested[1] < 150_000_000


def test_processor_time_of_a_childs_own_child_counts(tmp_path: Path) -> None:
    work = "import time\nwhile time.process_time() < 0.3: pass"
    (taken,) = measured_alone(tmp_path, inner(work))
    assert taken[0] >= 0.3


def test_what_a_run_leaves_is_removed_but_for_what_was_there_and_compiled_python(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_it.py").write_text("")
    leave = (
        "from pathlib import Path\n"
        "for folder in ('.report', '__pycache__'):\n"
        "    Path(folder).mkdir()\n"
        "    Path(folder, 'file').touch()\n"
        "Path('left').touch()"
    )
    measure(python(tmp_path, leave))
    assert {entry.name for entry in tmp_path.iterdir()} == {"test_it.py", "__pycache__"}


def test_settings_of_the_one_who_measures_do_not_reach_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:seatrial")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("KENSA_TRACE_DIR", "somewhere")
    monkeypatch.setenv("ORDINARY", "kept")
    folder, told = tmp_path / "folder", tmp_path / "told.json"
    folder.mkdir()
    tell = f"import json, os; json.dump(dict(os.environ), open({str(told)!r}, 'w'))"
    measure(python(folder, tell))
    environment = json.loads(told.read_text())
    assert environment["ORDINARY"] == "kept"
    assert not [name for name in environment if name.startswith(("PYTHON", "PYTEST", "KENSA"))]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("5 passed in 1.00s", None),
        ("12 passed, 1 warning\n5 passed in 1.00s", None),
        ("15 passed in 1.00s", "did not report `5 passed`"),
        ("4 passed, 1 skipped in 1.00s", "did not report `5 passed`"),
        ("no tests ran", "did not report `5 passed`"),
    ],
)
def test_a_run_that_did_not_pass_all_its_tests_is_no_measurement(
    tmp_path: Path, said: str, reason: str | None
) -> None:
    command = python(tmp_path, f"print({said!r})", passed=5)
    if reason is None:
        measure(command)
    else:
        with pytest.raises(ChildError, match=reason):
            measure(command)
