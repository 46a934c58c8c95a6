"""One way from the words on the command line to an exit status."""

from __future__ import annotations

from collections.abc import Sequence

import click

from seatrial.errors import SeatrialError
from seatrial.text import escape

__all__ = ["INTERRUPTED", "invoke"]

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it: 128 + SIGINT."""


def invoke(command: click.Command, argv: Sequence[str] | None, program: str) -> int:
    """Run `command` and return its exit status; the process is left running.

    Args:
        argv: The words after the program's name; None for those of this process.
        program: The name that usage lines show.

    Returns:
        What the command returned, 2 for a usage error, 1 for another error of ours, 130 after Ctrl-C.
    """
    words = None if argv is None else list(argv)
    try:
        status = command.main(args=words, prog_name=program, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except SeatrialError as error:
        click.echo(f"Error: {escape(str(error))}", err=True)
        return 1
    return status if isinstance(status, int) else 0
