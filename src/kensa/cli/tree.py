"""The command `kensa`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import click

from seatrial.cli.command_group import CommandGroup
from seatrial.cli.invocation import invoke
from seatrial.version import VERSION

__all__ = ["KensaCommands", "main"]


class KensaCommands(CommandGroup):
    """The commands of the evals face."""

    modules: ClassVar = {
        "doctor": (
            "kensa.cli.doctor",
            "Check the installation and the harness in tests/evals/conftest.py.",
        ),
        "eval": (
            "kensa.cli.evaluation",
            "Run the evals in PATHS, by default tests/evals, through pytest.",
        ),
        "judge": (
            "kensa.cli.judge_calibration",
            "Find out how far the judge can be trusted.",
        ),
    }


@click.group(cls=KensaCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message="%(version)s")
def tree() -> None:
    """Evals of AI agents as pytest tests."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `kensa` on `argv`, by default this process's; return the exit status."""
    return invoke(tree, argv, "kensa")
