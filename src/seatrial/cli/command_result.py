"""What a command has to say at its end, for a reader or, with `--json`, for a program."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import click

from seatrial.snapshot import JsonObject
from seatrial.text import escape

__all__ = ["CommandResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """The end of one command.

    Attributes:
        command: The command's name, with that of its group if it has one.
        exit_code: The status that the process ends with; 0 means that all is well.
        summary: One line; hostile until shown, like all text here.
        lines: Findings that are neither good nor bad, for a reader.
        data: What the command found, for programs.
        warnings: What a reader should look at, but that failed nothing.
        errors: Why the exit status is not 0.
        next_steps: What to do about it.
    """

    command: str
    exit_code: int
    summary: str
    lines: tuple[str, ...] = ()
    data: JsonObject = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()

    def show(self, *, as_json: bool, schema: str) -> None:
        """Write the result: one JSON document on stdout, or lines with errors on stderr.

        Args:
            schema: The name of the JSON document's form, such as `kensa.cli.v1`.
        """
        if as_json:
            click.echo(json.dumps(self._document(schema), indent=2, allow_nan=False))
            return
        for line in self.lines:
            click.echo(escape(line))
        for warning in self.warnings:
            click.echo(f"warning: {escape(warning)}", err=True)
        for error in self.errors:
            click.echo(f"error: {escape(error)}", err=True)
        click.echo(escape(self.summary))
        for step in self.next_steps:
            click.echo(f"next: {escape(step)}")

    def _document(self, schema: str) -> JsonObject:
        return {
            "schema_version": schema,
            "command": self.command,
            "ok": self.exit_code == 0,
            "exit_code": self.exit_code,
            "summary": self.summary,
            "data": self.data,
            "warnings": list(self.warnings),
            "errors": list(self.errors),
            "next_steps": list(self.next_steps),
        }
