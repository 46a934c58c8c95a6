"""Where a project's harness is."""

from __future__ import annotations

from pathlib import Path

import pytest

from kensa.cli.harness import check_harness

REAL = "def kensa_run():\n    return agent.run\n"
CANNED = 'def kensa_run():\n    return lambda case: "ok"\n'


def project(root: Path, files: dict[str, str]) -> Path:
    (root / "tests" / "evals").mkdir(parents=True)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    "files",
    [
        {"tests/evals/conftest.py": REAL},
        {"tests/conftest.py": REAL},
        {"conftest.py": REAL, "tests/evals/conftest.py": "import os\n"},
        {"tests/evals/conftest.py": "from app.harness import kensa_run\n"},
        {"tests/evals/conftest.py": "from app.harness import harness as kensa_run\n"},
        {"tests/evals/conftest.py": "from app.harness import *\n"},
        {"tests/evals/conftest.py": "kensa_run = make_harness()\n"},
        {"conftest.py": 'pytest_plugins = ["app.harness"]\n'},
        {"tests/evals/test_a.py": f"import pytest\n{REAL}"},
        {"tests/evals/billing/conftest.py": REAL},
    ],
)
def test_a_harness_anywhere_that_evals_see_is_found(files: dict[str, str], tmp_path: Path) -> None:
    checkup = check_harness(project(tmp_path, files))
    assert checkup.errors == ()
    assert checkup.suspicions == ()


def test_the_innermost_harness_is_the_one_that_is_judged(tmp_path: Path) -> None:
    inner = project(tmp_path / "a", {"tests/evals/conftest.py": REAL, "conftest.py": CANNED})
    assert check_harness(inner).suspicions == ()
    outer = project(tmp_path / "b", {"tests/evals/conftest.py": CANNED, "conftest.py": REAL})
    (suspicion,) = check_harness(outer).suspicions
    assert suspicion.startswith("tests/evals/conftest.py:2: ")
    assert suspicion.endswith("[canned-answer]")


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ({}, "tests/evals/conftest.py is missing"),
        ({"tests/evals/conftest.py": "import os\n"}, "tests/evals/conftest.py does not define it"),
        (
            {"tests/evals/conftest.py": "def kensa_run(:\n"},
            "tests/evals/conftest.py is no Python: line 1",
        ),
        ({"tests/evals/conftest.py": "x = '\x00'\n"}, "tests/evals/conftest.py"),
        ({"tests/evals/conftest.py": "x = " + "(" * 5000}, "tests/evals/conftest.py"),
    ],
)
def test_a_missing_or_unreadable_harness_is_one_sentence(
    files: dict[str, str], error: str, tmp_path: Path
) -> None:
    (found,) = check_harness(project(tmp_path, files)).errors
    assert error in found


def test_a_project_without_evals_is_told_so(tmp_path: Path) -> None:
    (found,) = check_harness(tmp_path).errors
    assert found == f"there is no folder tests/evals in {tmp_path}"
