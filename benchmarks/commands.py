"""How long the command takes to say what it is."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.child import Command
from benchmarks.figure import Figure
from benchmarks.pairing import run_pairs
from benchmarks.setting import Setting

__all__ = ["figures"]

_LIMIT = 1.5


def figures(setting: Setting) -> Iterator[Figure]:
    """`kensa --version` and `kensa --help` against Python importing click, and against PyPI's."""
    folder = setting.folder / "commands"
    folder.mkdir()

    def command(*words: str) -> Command:
        return Command(words=words, folder=folder)

    environments, pairs = setting.environments, setting.effort.short
    click = command(environments.seatrial.program("python"), "-c", "import click")
    for option in ("--version", "--help"):
        ours = command(environments.seatrial.program("kensa"), option)
        yield run_pairs(ours, click, pairs=pairs).time(
            f"`kensa {option}` against `import click`", limit=_LIMIT
        )
        if theirs := environments.published.get("kensa"):
            other = command(theirs.program("kensa"), option)
            yield run_pairs(ours, other, pairs=setting.effort.unpromised).time(
                f"`kensa {option}` against PyPI's"
            )
