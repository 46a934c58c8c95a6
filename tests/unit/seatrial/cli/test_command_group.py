from __future__ import annotations

import click
import pytest

from kensa.cli.tree import KensaCommands
from seatrial.cli.command_group import CommandGroup
from seatrial.cli.tree import CommandTree

OWN = [(tree, name) for tree in (CommandTree, KensaCommands) for name in tree.modules]


@pytest.mark.parametrize(("tree", "name"), OWN)
def test_the_list_says_of_a_command_what_its_own_help_says_first(
    tree: type[CommandGroup], name: str
) -> None:
    group = tree("group")
    context = click.Context(group)
    command = group.get_command(context, name)
    assert command is not None
    assert command.name == name
    assert group.listed_help(context, name) == command.get_short_help_str(limit=200)


def test_a_command_that_was_added_is_listed_with_the_others() -> None:
    group = CommandTree("group")
    group.add_command(click.Command("added", help="Was added."))
    context = click.Context(group)
    assert {"added", "doctor"} <= set(group.list_commands(context))
    assert group.listed_help(context, "added") == "Was added."


def test_an_unknown_name_is_no_command() -> None:
    group = KensaCommands("group")
    assert group.get_command(click.Context(group), "nothing") is None
