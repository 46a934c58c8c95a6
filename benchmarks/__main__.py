"""`make bench`: measures, prints a table, writes it to RESULTS.md, and fails on a broken promise."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks import commands, concurrency, growth, published, startup, trials, workers
from benchmarks.child import ChildError
from benchmarks.environments import ROOT, InstallError, make_environments
from benchmarks.figure import Figure
from benchmarks.machine import describe_environment, describe_machine
from benchmarks.setting import FULL, QUICK, Setting
from benchmarks.table import figure_table, markdown_table

SUBJECTS: dict[str, Callable[[Setting], Iterator[Figure]]] = {
    "startup": startup.figures,
    "commands": commands.figures,
    "trials": trials.figures,
    "workers": workers.figures,
    "concurrency": concurrency.figures,
    "growth": growth.figures,
    "published": published.figures,
}
RESULTS = ROOT / "benchmarks" / "RESULTS.md"


def main(words: Sequence[str]) -> int:
    """Measure, and say whether the promises are kept.

    Returns:
        0 if they are; 1 if one is broken or could not be measured; 2 if none could.
    """
    options = _parser().parse_args(words)
    subjects: list[str] = options.only or list(SUBJECTS)
    began_s = time.perf_counter()
    machine = describe_machine()
    try:
        environments = make_environments(published=not options.quick, say=_say)
    except InstallError as error:
        _say(f"an environment could not be made: {error}")
        return 2
    with tempfile.TemporaryDirectory(prefix="seatrial-bench-") as folder:
        setting = Setting(environments, QUICK if options.quick else FULL, Path(folder))
        figures = [figure for name in subjects for figure in _measured(name, setting)]
    facts = [
        *machine,
        *(
            (f"environment `{each.name}`", describe_environment(each))
            for each in environments.all()
        ),
        ("measured in", f"{time.perf_counter() - began_s:.0f} s"),
    ]
    results = f"{figure_table(figures)}\n{markdown_table(('measured on', ''), facts)}"
    print(f"\n{results}")
    if not options.quick and subjects == list(SUBJECTS):
        RESULTS.write_text(_page(results), encoding="utf-8")
        _say(f"written to {RESULTS.relative_to(ROOT)}")
    return _told([figure for figure in figures if figure.judgement.fails])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog='make bench ARGS="..."', description=__doc__)
    parser.add_argument(
        "--only",
        metavar="SUBJECT,...",
        type=_subjects,
        help=f"measure these alone: {', '.join(SUBJECTS)}; RESULTS.md stays as it is",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="fewer pairs, fewer trials, none of PyPI's packages; RESULTS.md stays as it is",
    )
    return parser


def _subjects(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SUBJECTS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(SUBJECTS)}")
    return names


def _measured(subject: str, setting: Setting) -> Iterator[Figure]:
    """A subject's figures, each said when it is there; the last tells of a command that failed."""
    try:
        for figure in SUBJECTS[subject](setting):
            _say(" ".join((_line(figure), figure.judgement)).strip())
            yield figure
    except ChildError as error:
        figure = Figure(name=f"{subject}: what is missing here", problem=str(error))
        _say(_line(figure))
        yield figure


def _line(figure: Figure) -> str:
    if figure.compared is None:
        return f"{figure.name}: {figure.problem}"
    return f"{figure.name}: {figure.compared.median:.2f} {figure.unit}{_promise(figure)}"


def _promise(figure: Figure) -> str:
    return "" if figure.limit is None else f", promised at most {figure.limit:.2f}"


def _page(results: str) -> str:
    return (
        "# Results\n\n"
        "Written by `make bench`; [README.md](README.md) says what the figures mean.\n\n"
        f"{results}"
    )


def _told(failed: Sequence[Figure]) -> int:
    """Name what failed; the exit status."""
    for figure in failed:
        _say(f"{figure.judgement}: {_line(figure)}")
    if not failed:
        _say("every promise that was measured is kept")
    return 1 if failed else 0


def _say(text: str) -> None:
    print(f"bench: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
