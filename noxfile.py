"""The matrix: every supported minor version of pytest, the lowest dependencies, with xdist and without.

`make matrix` runs all of it; `make matrix SESSION=pytest-8.4 ARGS=tests/plugin` a part.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "venv"
nox.options.envdir = ".venvs/nox"
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = False

PYTEST_VERSIONS = ("8.4", "9.0", "9.1", "9.2")
PYTHON_VERSIONS = ("3.11", "3.12", "3.13")
PARALLEL = ("-n", "2", "--dist", "loadfile")


def run_tests(
    session: nox.Session, *requirements: str, options: tuple[str, ...] = PARALLEL
) -> None:
    """Install the project with `requirements` beside it, and run the tests on them."""
    session.install("--quiet", "--upgrade", "pip>=25.1")
    session.install("--quiet", "--editable", ".[llm]", "--group", "test", *requirements)
    session.run("python", "-m", "pytest", "-q", *options, *session.posargs)


@nox.session
@nox.parametrize("version", [nox.param(version, id=version) for version in PYTEST_VERSIONS])
def pytest(session: nox.Session, version: str) -> None:
    """On the newest release of one minor version of pytest."""
    run_tests(session, f"pytest=={version}.*")


@nox.session(python=PYTHON_VERSIONS)
def python(session: nox.Session) -> None:
    """On one version of Python, with the newest of everything."""
    run_tests(session)


@nox.session
def serial(session: nox.Session) -> None:
    """In one process, with pytest-xdist installed but not used."""
    run_tests(session, options=())


@nox.session
def lowest(session: nox.Session) -> None:
    """On the lowest version that pyproject.toml allows of each core dependency."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    run_tests(session, *(entry.replace(">=", "==") for entry in project["dependencies"]))
