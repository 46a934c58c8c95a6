"""What an installed Seatrial adds to the start of a pytest that does not use it."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.child import Command
from benchmarks.environments import Environment
from benchmarks.figure import Figure
from benchmarks.pairing import run_pairs
from benchmarks.setting import Setting
from benchmarks.suites import write_empty

__all__ = ["figures"]

_LIMIT = 1.1

# Starting is measured without xdist on either side: it makes any pytest start later, which would
# hide a part of what Seatrial adds.
_OPTIONS = ("-p", "no:xdist", "-p", "no:xdist.looponfail")


def figures(setting: Setting) -> Iterator[Figure]:
    """Start-up with Seatrial and with PyPI's packages, each against pytest alone.

    The reference is an environment without Seatrial, and not `-p no:seatrial` in the same one: a
    plugin that is turned off still lengthens the list of packages that pytest goes through.
    """
    suite = setting.folder / "nothing"
    write_empty(suite)

    def start(environment: Environment) -> Command:
        return setting.pytest(environment, suite, 1, *_OPTIONS)

    environments, pairs = setting.environments, setting.effort.short
    reference = start(environments.bare)
    with_core = run_pairs(start(environments.seatrial), reference, pairs=pairs)
    yield with_core.time("start-up", limit=_LIMIT)
    yield with_core.memory("start-up")
    # The libraries bring plugins of their own, such as anyio's; Seatrial answers for what it adds.
    extras, libraries = start(environments.extras), start(environments.libraries)
    with_extras = run_pairs(extras, libraries, pairs=pairs)
    yield with_extras.time("start-up, all extras, against their libraries", limit=_LIMIT)
    of_libraries = run_pairs(libraries, reference, pairs=pairs)
    yield of_libraries.time("start-up, the extras' libraries without Seatrial")
    for name, environment in environments.published.items():
        theirs = run_pairs(start(environment), reference, pairs=setting.effort.unpromised)
        yield theirs.time(f"start-up with PyPI's `{name}`")
        yield theirs.memory(f"start-up with PyPI's `{name}`")
