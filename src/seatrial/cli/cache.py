"""`seatrial cache`: what is kept of models' answers, and how to get rid of it."""

from __future__ import annotations

import click

from seatrial.cli.command_result import CommandResult
from seatrial.cli.doctor import SCHEMA
from seatrial.models.answer_cache import AnswerCache, Pruned, default_folder

__all__ = ["command"]

_DAY_S = 86_400.0
_MB = 1_000_000

_as_json = click.option("--json", "as_json", is_flag=True, help="Write one JSON document.")


@click.group("cache", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Show, prune or clear the answers of models that are kept.

    They lie in the user's cache folder, or in that named by SEATRIAL_CACHE_DIR.
    """


@command.command("show")
@_as_json
def show(*, as_json: bool) -> int:
    """Say where the answers are, how many, and how large."""
    cache = AnswerCache(default_folder())
    problem = cache.problem()
    contents = cache.contents()
    lines = [f"folder: {cache.folder}"]
    if contents.oldest_s is not None:
        lines.append(f"least recently used: {contents.oldest_s / _DAY_S:.1f} days ago")
    result = CommandResult(
        command="cache show",
        exit_code=0,
        summary=_amount(contents.entries, contents.size_bytes),
        lines=tuple(lines),
        data={
            "folder": str(cache.folder),
            "usable": problem is None,
            "entries": contents.entries,
            "size_bytes": contents.size_bytes,
            "oldest_s": contents.oldest_s,
        },
        warnings=() if problem is None else (f"no answer is kept or found: {problem}",),
    )
    result.show(as_json=as_json, schema=SCHEMA)
    return result.exit_code


@command.command("prune")
@click.option(
    "--unused-days",
    type=click.IntRange(0, 36_500),
    default=30,
    show_default=True,
    help="Remove answers that were not used for so many days.",
)
@click.option(
    "--most-mb",
    type=click.IntRange(0, 1_000_000),
    default=256,
    show_default=True,
    help="Then remove those used least recently until so many megabytes are left.",
)
@_as_json
def prune(*, unused_days: int, most_mb: int, as_json: bool) -> int:
    """Remove answers that were not used for long, or are too many."""
    cache = AnswerCache(default_folder())
    pruned = cache.prune(older_than_s=unused_days * _DAY_S, largest_bytes=most_mb * _MB)
    return _end("cache prune", cache, pruned, as_json=as_json)


@command.command("clear")
@_as_json
def clear(*, as_json: bool) -> int:
    """Remove all answers."""
    cache = AnswerCache(default_folder())
    return _end("cache clear", cache, cache.clear(), as_json=as_json)


def _end(name: str, cache: AnswerCache, pruned: Pruned, *, as_json: bool) -> int:
    result = CommandResult(
        command=name,
        exit_code=1 if pruned.failed else 0,
        summary=f"removed {_amount(pruned.removed, pruned.freed_bytes)}; "
        f"kept {_amount(pruned.kept, pruned.kept_bytes)}",
        data={
            "folder": str(cache.folder),
            "removed": pruned.removed,
            "freed_bytes": pruned.freed_bytes,
            "kept": pruned.kept,
            "kept_bytes": pruned.kept_bytes,
            "failed": pruned.failed,
        },
        errors=(f"files in {cache.folder} that cannot be removed: {pruned.failed}",)
        if pruned.failed
        else (),
    )
    result.show(as_json=as_json, schema=SCHEMA)
    return result.exit_code


def _amount(answers: int, size_bytes: int) -> str:
    return f"{answers} answer{'' if answers == 1 else 's'}, {size_bytes / _MB:.1f} MB"
