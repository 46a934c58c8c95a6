"""Where a project's harness is, and whether it looks like one."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from kensa.cli.harness_signs import HARNESS, find_harness, suspicious_signs

__all__ = ["EVALS", "HarnessCheckup", "check_harness"]

EVALS = Path("tests") / "evals"

_MODULES_LIMIT = 500


@dataclass(frozen=True, slots=True)
class HarnessCheckup:
    """What reading the project's conftests showed.

    Attributes:
        errors: Why no eval can run.
        suspicions: Why the harness may not be the agent.
    """

    errors: tuple[str, ...] = ()
    suspicions: tuple[str, ...] = ()


def check_harness(root: Path) -> HarnessCheckup:
    """Read the conftests that evals in `root` see; nothing is run."""
    if not (root / EVALS).is_dir():
        return HarnessCheckup((f"there is no folder {EVALS} in {root}",))
    # pytest reads them from the outside in, and the innermost `kensa_run` wins.
    conftests = [root / part / "conftest.py" for part in (EVALS, EVALS.parent, Path())]
    elsewhere = False
    for path in filter(Path.is_file, conftests):
        shown = path.relative_to(root).as_posix()
        try:
            module = _parse(path)
        except ValueError as error:
            return HarnessCheckup((f"{shown} {error}",))
        if find_harness(module) is not None:
            signs = suspicious_signs(module)
            return HarnessCheckup(
                suspicions=tuple(f"{shown}:{s.line}: {s.message} [{s.code}]" for s in signs)
            )
        elsewhere = elsewhere or _may_bring_it(module)
    if elsewhere or _a_test_module_has_it(root / EVALS):
        return HarnessCheckup()
    where = (EVALS / "conftest.py").as_posix()
    reason = "does not define it" if (root / where).is_file() else "is missing"
    return HarnessCheckup(
        (f"no fixture {HARNESS}: {where} {reason}; it connects a case to your agent",)
    )


def _parse(path: Path) -> ast.Module:
    """The file's syntax tree.

    Raises:
        ValueError: Saying why it cannot be read, to follow the file's name.
    """
    try:
        return ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise ValueError(f"is no Python: line {error.lineno}: {error.msg}") from error
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"cannot be read: {error}") from error


def _may_bring_it(module: ast.Module) -> bool:
    """Whether `kensa_run` is, or could be, imported or assigned here."""
    for node in ast.walk(module):
        if isinstance(node, ast.alias) and (node.asname or node.name) in (HARNESS, "*"):
            return True
        if isinstance(node, ast.Name) and node.id in (HARNESS, "pytest_plugins"):
            return True
    return False


def _a_test_module_has_it(folder: Path) -> bool:
    modules = [*folder.rglob("test_*.py"), *folder.rglob("*_test.py"), *folder.rglob("conftest.py")]
    for path in sorted(modules)[:_MODULES_LIMIT]:
        try:
            module = _parse(path)
        except ValueError:
            continue  # pytest will say so
        if any(
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == HARNESS
            for node in ast.walk(module)
        ):
            return True
    return False
