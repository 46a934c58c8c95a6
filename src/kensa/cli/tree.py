"""The command `kensa`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from kensa.cli import doctor, evaluation
from seatrial.cli.invocation import invoke

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="seatrial", message="%(version)s")
def tree() -> None:
    """Evals of AI agents as pytest tests."""


tree.add_command(evaluation.command)
tree.add_command(doctor.command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `kensa` on `argv`, by default this process's; return the exit status."""
    return invoke(tree, argv, "kensa")
