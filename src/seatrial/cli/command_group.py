"""A group of commands that are imported when they run: the others cost a start nothing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import ClassVar

import click

__all__ = ["CommandGroup"]


class CommandGroup(click.Group):
    """Knows its own commands by name, and what their help says first."""

    modules: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """By the name of each command: the module whose `command` it is, and its short help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return sorted({*super().list_commands(ctx), *self.modules})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, whose module is imported now."""
        if cmd_name not in self.modules:
            return super().get_command(ctx, cmd_name)
        command: click.Command = import_module(self.modules[cmd_name][0]).command
        return command

    def listed_help(self, ctx: click.Context, name: str) -> str:
        """What the list of commands says of one."""
        if name in self.modules:
            return self.modules[name][1]
        command = self.get_command(ctx, name)
        return "" if command is None else command.get_short_help_str(limit=80)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        rows = [(name, self.listed_help(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
