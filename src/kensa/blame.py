"""Whose assertion failed: the judge's, which could not answer, or another one about the agent.

Read from the failed test itself: the traceback's frames say what each name held, and their source
says which names the failing statement rests on.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import dropwhile
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeAlias

from kensa.judge import JudgeResult, judge, judge_async
from seatrial.scope import current_scope
from seatrial.snapshot import JsonObject

__all__ = ["is_judges_assertion"]

# What runs a test, before the test's own first frame.
_RUNNERS = {
    "_pytest",
    "pluggy",
    "pytest_asyncio",
    "anyio",
    "asyncio",
    "unittest",
    "seatrial",
    "kensa",
}

_MAX_DEPTH = 3
_JUDGES = (judge, judge_async)

_Names: TypeAlias = Mapping[str, object]


def is_judges_assertion(
    error: BaseException, judgements: Sequence[JsonObject] | None = None
) -> bool:
    """Whether the failed assertion is about a judge's result that is an error.

    It is if the failing statement rests on such a result, on a name derived from one, or calls
    the judge and that call gave an error. Where no source can be read the answer is yes, so that
    no agent is blamed for a judge.

    Args:
        error: What the test raised, with its traceback: an AssertionError or pytest's failure.
        judgements: The trial's judgements, oldest first, as JSON documents; those of the current
            trial if not given.
    """
    if judgements is None:
        scope = current_scope()
        judgements = scope.judgements if scope is not None else ()
    if not any(judgement.get("error") for judgement in judgements):
        return False
    last_failed = bool(judgements[-1].get("error"))
    entered: CodeType | None = None
    for frame, line in reversed(_test_frames(error)):
        tree = _source_tree(frame.f_code)
        if tree is None:
            return True
        names = _visible_names(frame)
        tainted, mentioned = _tainted(tree, names), _mentioned_where_it_failed(tree, line)
        if tainted & mentioned:
            return True
        # What was entered here failed inside, where it was looked at already.
        asked = (_judging_code(name, names) for name in mentioned)
        if last_failed and any(code not in (None, entered) for code in asked):
            return True
        if any(_holds_error(value) for value in frame.f_locals.values()):
            # The result is at hand here, and the statement is about something else.
            return False
        entered = frame.f_code
    return False


def _test_frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """The test's own frames and all inside it, outermost first."""
    frames = []
    step = error.__traceback__
    while step is not None:
        frames.append((step.tb_frame, step.tb_lineno))
        step = step.tb_next
    return list(dropwhile(lambda entry: _is_runner(entry[0]), frames))


def _is_runner(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _RUNNERS


def _source_tree(code: CodeType) -> ast.Module | None:
    """The syntax tree of the code, with the line numbers of its file; None without source."""
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, ValueError, TypeError, IndexError):
        return None
    return ast.increment_lineno(tree, max(first, 1) - 1)


def _visible_names(frame: FrameType) -> _Names:
    return {**frame.f_globals, **frame.f_locals}


def _mentioned_where_it_failed(tree: ast.Module, line: int) -> set[str]:
    path = _path_to(tree, line)
    parts = _deciding_parts(path) if path else ()
    return {name for part in parts for name in _mentions(part)}


def _path_to(tree: ast.Module, line: int) -> list[ast.stmt]:
    """The statements around the line, outermost first; the last one is that which failed."""
    path: list[ast.stmt] = []
    inside: ast.AST = tree
    while True:
        covering = [s for s in _child_statements(inside) if _covers(s, line)]
        if not covering:
            return path
        # A line may hold several statements; an assertion is the one that is known to fail.
        asserting = [statement for statement in covering if isinstance(statement, ast.Assert)]
        inside = (asserting or covering)[-1]
        path.append(inside)


def _child_statements(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            yield from _child_statements(child)


def _covers(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _deciding_parts(path: list[ast.stmt]) -> Iterator[ast.AST]:
    """The expressions that made the last statement fail."""
    failed = path[-1]
    if isinstance(failed, ast.Assert) and not isinstance(failed.test, ast.Constant):
        # Not its message, which often quotes a judge's reasoning.
        yield failed.test
        return
    yield from _own_expressions(failed)
    # `pytest.fail()`, `raise AssertionError` and `assert False` fail because they were reached.
    for around in path[:-1]:
        if isinstance(around, (ast.If, ast.While)):
            yield around.test
        elif isinstance(around, ast.Match):
            yield around.subject


def _own_expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case, ast.arguments)):
            yield child


def _mentions(node: ast.AST) -> Iterator[str]:
    """Names read in the expression; `a.b.c` counts as `a`, `a.b` and `a.b.c`."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
            name = _dotted(part)
            if name is not None:
                yield name


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return f"{owner}.{node.attr}" if owner is not None else None
    return None


def _tainted(tree: ast.Module, names: _Names) -> set[str]:
    """Names that hold a judge's error, or were computed from one."""
    tainted = {name for name, value in names.items() if _holds_error(value)}
    assignments = list(_assignments(tree))
    targets = [target for target, _ in assignments]
    # A name assigned once that holds an answer now held nothing else before.
    sound = {
        target
        for target in targets
        if isinstance(names.get(target), JudgeResult)
        and target not in tainted
        and targets.count(target) == 1
    }
    grown = True
    while grown:
        grown = False
        for target, sources in assignments:
            if target in tainted or target in sound:
                continue
            if sources & tainted or any(_judging_code(source, names) for source in sources):
                tainted.add(target)
                grown = True
    return tainted


def _assignments(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """Each assigned name, with the names in what it is assigned."""
    for node in ast.walk(tree):
        for target, value in _bindings(node):
            sources = set(_mentions(value))
            for name in _bound(target):
                yield name, sources


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign():
            for target in node.targets:
                yield from _paired(target, node.value)
        case ast.AnnAssign(value=ast.expr() as value) | ast.AugAssign(value=value):
            yield node.target, value
        case ast.NamedExpr():
            yield node.target, node.value
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            yield node.target, node.iter
        case ast.withitem(optional_vars=ast.expr() as target):
            yield target, node.context_expr


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    match target, value:
        case (
            ast.Tuple(elts=targets) | ast.List(elts=targets),
            ast.Tuple(elts=values) | ast.List(elts=values),
        ) if len(targets) == len(values):
            yield from zip(targets, values, strict=True)
        case _:
            yield target, value


def _bound(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Tuple() | ast.List():
            for element in target.elts:
                yield from _bound(element)
        case ast.Starred() | ast.Subscript():
            yield from _bound(target.value)
        case ast.Name() | ast.Attribute():
            name = _dotted(target)
            if name is not None:
                yield name


def _holds_error(value: object, depth: int = 0) -> bool:
    """Whether the value is a judge's error, or a plain container of one."""
    if isinstance(value, JudgeResult):
        return value.error
    if depth >= _MAX_DEPTH:
        return False
    if type(value) is dict:
        return any(_holds_error(item, depth + 1) for item in value.values())
    if type(value) in (list, tuple):
        items: Any = value
        return any(_holds_error(item, depth + 1) for item in items)
    return False


def _judging_code(name: str, names: _Names) -> CodeType | None:
    """The code behind the dotted name, if that is the judge or a function that calls it."""
    first, *attributes = name.split(".")
    value = names.get(first)
    for attribute in attributes:
        # Read without running descriptors of foreign objects.
        value = inspect.getattr_static(value, attribute, None)
    if isinstance(value, partial):
        value = value.func
    if isinstance(value, FunctionType) and (value in _JUDGES or _calls_judge(value)):
        return value.__code__
    return None


def _calls_judge(function: FunctionType) -> bool:
    try:
        closure = inspect.getclosurevars(function)
    except ValueError:  # a variable of the closure has no value yet
        return False
    named = (*closure.globals.values(), *closure.nonlocals.values())
    return any(value is judging for value in named for judging in _JUDGES)
