"""The command `seatrial`: the engine's commands, and those that installed faces add.

A face adds a command by an entry point in the group `seatrial.commands`: its name is the
command's, its object a `click.Command`. The engine's own names cannot be taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import ClassVar, NoReturn

import click

from seatrial.cli.command_group import CommandGroup
from seatrial.cli.invocation import invoke
from seatrial.text import one_line
from seatrial.version import VERSION

__all__ = ["CommandTree", "main"]

ENTRY_POINT_GROUP = "seatrial.commands"


class CommandTree(CommandGroup):
    """The engine's commands, and further ones among the installed entry points."""

    modules: ClassVar = {
        "cache": (
            "seatrial.cli.cache",
            "Show, prune or clear the answers of models that are kept.",
        ),
        "doctor": (
            "seatrial.cli.doctor",
            "Check the installation: versions, extras, colliding packages.",
        ),
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of our commands and of those that faces add."""
        added = (entry.name for entry in entry_points(group=ENTRY_POINT_GROUP))
        return sorted({*super().list_commands(ctx), *added})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Our command of that name, else a face's, which is imported now."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        for entry in entry_points(group=ENTRY_POINT_GROUP, name=cmd_name):
            return _load(entry)
        return None


def _load(entry: EntryPoint) -> click.Command:
    try:
        command = entry.load()
    except Exception as error:  # noqa: BLE001 - a foreign module; the other commands must go on working
        return _broken(entry, f"{type(error).__name__}: {error}")
    if not isinstance(command, click.Command):
        return _broken(entry, f"{entry.value} is a {type(command).__name__}, not a click.Command")
    return command


def _broken(entry: EntryPoint, reason: str) -> click.Command:
    """A command in the place of one that cannot be loaded; it fails with the reason."""
    message = one_line(f"the command {entry.name} ({entry.value}) cannot be loaded: {reason}")

    def fail() -> NoReturn:
        raise click.ClickException(message)

    return click.Command(
        entry.name, callback=fail, help=message, context_settings={"ignore_unknown_options": True}
    )


@click.group(cls=CommandTree, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message="%(version)s")
def tree() -> None:
    """Evals and safety tests for AI agents, in the pytest you already use."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `seatrial` on `argv`, by default this process's; return the exit status."""
    return invoke(tree, argv, "seatrial")
