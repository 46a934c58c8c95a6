"""`kensa doctor` from end to end."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Project: TypeAlias = "Callable[[dict[str, str]], Path]"
Kensa: TypeAlias = "Callable[..., subprocess.CompletedProcess[str]]"

STUB = """
import pytest

@pytest.fixture
def kensa_run():
    return lambda case: "Refund issued."
"""
SMOKE = "def test_kensa_smoke(kensa_run): assert kensa_run is {}"


def test_a_sound_project_exits_0_also_when_strict(project: Project, kensa: Kensa) -> None:
    root = project({"tests/evals/test_kensa_smoke.py": SMOKE.format("not None")})
    ended = kensa(root, "doctor", "--strict")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.startswith("running tests/evals/test_kensa_smoke.py\n")
    assert ended.stdout.endswith("evals can run\n")
    assert ended.stderr == ""


def test_a_stub_is_a_warning_that_strict_turns_into_a_failure(
    project: Project, kensa: Kensa
) -> None:
    root = project({"tests/evals/conftest.py": STUB})
    ended = kensa(root, "doctor")
    assert ended.returncode == 0
    assert "warning: tests/evals/conftest.py:6: " in ended.stderr
    assert "[canned-answer]" in ended.stderr
    assert kensa(root, "doctor", "--strict").returncode == 1
    assert kensa(root, "doctor", "--strict", "--allow-suspicious-harness").returncode == 0


def test_a_failing_smoke_test_fails_and_shows_why(project: Project, kensa: Kensa) -> None:
    root = project({"tests/evals/test_kensa_smoke.py": SMOKE.format("None")})
    ended = kensa(root, "doctor", "--json")
    assert ended.returncode == 1
    document = json.loads(ended.stdout)
    assert document["ok"] is False
    assert document["data"]["smoke"]["returncode"] == 1
    assert document["data"]["harness_readiness"] == {"ready": False, "smoke_eval_count": 1}
    assert "the smoke test failed (pytest exit 1)" in document["errors"][0]
    assert "is None" in document["errors"][0]


def test_a_project_without_a_harness_fails_with_the_next_step(kensa: Kensa, tmp_path: Path) -> None:
    (tmp_path / "tests" / "evals").mkdir(parents=True)
    ended = kensa(tmp_path, "doctor")
    assert ended.returncode == 1
    assert "error: no fixture kensa_run: tests/evals/conftest.py is missing" in ended.stderr
    assert "next: define the fixture kensa_run in tests/evals/conftest.py" in ended.stdout


def test_the_report_holds_the_installations_part(project: Project, kensa: Kensa) -> None:
    document = json.loads(kensa(project({}), "doctor", "--json").stdout)
    assert document["schema_version"] == "kensa.cli.v1"
    assert document["command"] == "doctor"
    assert set(document["data"]) == {
        "python",
        "platform",
        "versions",
        "extras",
        "colliding_distributions",
        "harness_authenticity_warnings",
        "harness_readiness",
        "smoke",
    }
    assert document["data"]["smoke"] is None


def test_a_distribution_that_owns_our_package_fails_before_anything_runs(
    project: Project, kensa: Kensa
) -> None:
    metadata = "site/kensa-0.12.0.dist-info/METADATA"
    root = project(
        {
            metadata: "Metadata-Version: 2.1\nName: kensa\nVersion: 0.12.0\n",
            "tests/evals/test_kensa_smoke.py": SMOKE.format("None"),
        }
    )
    ended = kensa(root, "doctor", PYTHONPATH=str(root / "site"))
    assert ended.returncode == 1
    assert "error: the distribution kensa is installed" in ended.stderr
    assert "smoke" not in ended.stderr
