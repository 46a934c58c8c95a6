"""The environments that commands are measured in, each with its own Python packages.

All lie under `.venvs/`, are made when first needed and kept until what they are made of changes.
Seatrial is installed as its users install it, from a wheel of the work tree as it is now: Python
looks for the modules of an editable install in another way than for theirs.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Environment", "Environments", "InstallError", "make_environments"]

ROOT = Path(__file__).parents[1]
_FOLDER = ROOT / ".venvs"
_TIMEOUT_S = 900.0

# What a user of pytest alone has; pytest-xdist for the figures with workers, click for the commands.
_BARE = ("pytest", "pytest-asyncio", "pytest-xdist", "click")

# The extra `local` without the package that carries the weights: pip would compile a llama.cpp for it.
_LOCAL = ("xllamacpp", "httpx")

# With the plugins that `bare` has. pyrit, which `rampart` requires, imports aiohttp without requiring it.
_PUBLISHED = {"rampart": ("rampart", "aiohttp", *_BARE), "kensa": ("kensa", *_BARE)}

# Of no consequence at run time, so not held to one release.
_TOOLS = ("pip", "setuptools")


class InstallError(Exception):
    """An environment could not be made; the text is the installer's last line."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment.

    Args:
        name: For the reader.
        folder: Where it lies.
    """

    name: str
    folder: Path

    def program(self, name: str) -> str:
        """The path of a script installed in it, or of its `python`."""
        return str(self.folder / "bin" / name)

    def versions(self) -> dict[str, str]:
        """Versions of the distributions installed in it, by name in lower case."""
        listed = _pip(self, "list", "--format=json")
        return {one["name"].lower(): one["version"] for one in json.loads(listed)}


@dataclass(frozen=True, slots=True)
class Environments:
    """What there is to measure in; everything else has the releases of packages that `bare` has.

    Args:
        bare: pytest and pytest-asyncio, no Seatrial.
        seatrial: Seatrial with what its concurrency needs.
        extras: Seatrial with the libraries of all extras.
        libraries: What `extras` has, but for Seatrial.
        published: By name, the packages of PyPI that are named as the faces are.
        missing: By name, why one of those could not be installed.
    """

    bare: Environment
    seatrial: Environment
    extras: Environment
    libraries: Environment
    published: Mapping[str, Environment]
    missing: Mapping[str, str]

    def all(self) -> list[Environment]:
        """Every one that was made."""
        return [self.bare, self.seatrial, self.extras, self.libraries, *self.published.values()]


def make_environments(*, published: bool, say: Callable[[str], None]) -> Environments:
    """Make them, or reuse those that exist.

    Args:
        published: Whether those of PyPI's `rampart`, 1 GB large, and `kensa` are wanted.
        say: Is told what takes a while.

    Raises:
        InstallError: If one other than PyPI's cannot be made.
    """
    bare = _made("bare", _BARE, {}, say)
    held = _held(bare)
    wheel = _wheel(bare)
    project = f"seatrial[xdist,concurrency] @ {wheel.as_uri()}"
    everything = f"seatrial[xdist,concurrency,llm] @ {wheel.as_uri()}"
    seatrial = _made("seatrial", (project,), held, say)
    extras = _made("extras", (everything, *_LOCAL), held, say)
    for environment in (seatrial, extras):
        _install_source(environment, wheel)
    theirs = _held(extras)
    del theirs["seatrial"]
    libraries = _made("libraries", tuple(theirs), theirs, say)
    found: dict[str, Environment] = {}
    missing: dict[str, str] = {}
    for name, requirements in _PUBLISHED.items() if published else ():
        try:
            found[name] = _made(name, requirements, held, say)
        except InstallError as error:
            missing[name] = str(error)
    return Environments(bare, seatrial, extras, libraries, found, missing)


def _held(environment: Environment) -> dict[str, str]:
    """The releases that another environment has to have as well."""
    versions = environment.versions()
    return {name: version for name, version in versions.items() if name not in _TOOLS}


def _made(
    name: str, requirements: tuple[str, ...], held: Mapping[str, str], say: Callable[[str], None]
) -> Environment:
    """The environment with these requirements; no other release of what `held` names."""
    environment = Environment(name, _FOLDER / f"bench-{name}")
    constraints = "".join(f"{package}=={version}\n" for package, version in sorted(held.items()))
    recipe = "\n".join([sys.version, *requirements, constraints, _dependencies()])
    mark = environment.folder / "recipe.txt"
    if mark.exists() and mark.read_text(encoding="utf-8") == recipe:
        return environment
    say(f"making {environment.folder.relative_to(ROOT)}")
    shutil.rmtree(environment.folder, ignore_errors=True)
    _run(sys.executable, "-m", "venv", str(environment.folder))
    _pip(environment, "install", "-qq", "--upgrade", "pip")
    limits = environment.folder / "constraints.txt"
    limits.write_text(constraints, encoding="utf-8")
    _pip(environment, "install", "-qq", "--constraint", str(limits), *requirements)
    mark.write_text(recipe, encoding="utf-8")
    return environment


def _dependencies() -> str:
    """What pyproject.toml says, of which the dependencies are a part."""
    return (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def _wheel(builder: Environment) -> Path:
    """A wheel of the work tree."""
    folder = _FOLDER / "bench-wheel"
    shutil.rmtree(folder, ignore_errors=True)
    _pip(builder, "wheel", "-qq", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    return next(folder.glob("*.whl"))


def _install_source(environment: Environment, wheel: Path) -> None:
    """Bring Seatrial's own code in an environment up to date; its dependencies are there."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    mark = environment.folder / "wheel.txt"
    if mark.exists() and mark.read_text(encoding="utf-8") == digest:
        return
    _pip(environment, "install", "-qq", "--no-deps", "--force-reinstall", str(wheel))
    mark.write_text(digest, encoding="utf-8")


def _pip(environment: Environment, *words: str) -> str:
    return _run(environment.program("python"), "-m", "pip", *words)


def _run(*words: str) -> str:
    # A machine may ask that nothing be compiled; users' environments are.
    variables = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    variables["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    try:
        ended = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            env=variables,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InstallError(f"not done after {_TIMEOUT_S:.0f} s") from None
    if ended.returncode != 0:
        lines = ended.stderr.strip().splitlines() or [f"`{words[0]}` ended with {ended.returncode}"]
        raise InstallError(lines[-1])
    return ended.stdout
