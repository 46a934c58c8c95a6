"""Signs in a conftest's source that its harness is a stand-in for the agent, not the agent.

The source is read, never run. Only what `kensa_run` returns and reaches inside the file is judged:
a mock that some other fixture needs is none of our business. Imports are not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kensa.cli.canned_answers import answers_are_canned
from kensa.cli.source_tree import (
    Definition,
    Function,
    assignments,
    called_name,
    name_words,
    own_nodes,
    parameter_names,
    returned,
    root_name,
)

__all__ = ["HARNESS", "Sign", "find_harness", "suspicious_signs"]

HARNESS = "kensa_run"

_STAND_IN = {"dummy", "fake", "fallback", "mock", "stub"}
_AGENT = {"agent", "assistant", "bot", "chatbot"}
_MOCKS = {"AsyncMock", "MagicMock", "Mock", "NonCallableMock", "create_autospec"}
_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError"}
_ANSWERING_METHODS = {"__call__", "respond", "run"}
_LOGGERS = {"debug", "info", "warning", "error", "exception", "log", "print"}


@dataclass(frozen=True, slots=True, order=True)
class Sign:
    """One suspicious place.

    Attributes:
        line: Its line in the file, from 1.
        code: The kind of sign, a fixed word for programs.
        message: What is suspicious, for a reader.
    """

    line: int
    code: str
    message: str


def find_harness(module: ast.Module) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The fixture `kensa_run`, by its own name or by `name=` of its decorator."""
    for node in module.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
            node.name == HARNESS or any(_names_it(mark) for mark in node.decorator_list)
        ):
            return node
    return None


def _names_it(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and any(
        word.arg == "name" and isinstance(word.value, ast.Constant) and word.value.value == HARNESS
        for word in decorator.keywords
    )


def suspicious_signs(module: ast.Module) -> tuple[Sign, ...]:
    """All signs in a conftest, by line; none if it does not define the harness itself."""
    harness = find_harness(module)
    if harness is None:
        return ()
    reached = _reached(module, harness)
    signs = {
        *_import_fallbacks(module),
        *_coverage_shims(module),
        *_answering_signs(module, harness),
    }
    for definition in reached:
        for node in ast.walk(definition):
            signs.update(sign for check in _NODE_CHECKS for sign in check(node))
    return tuple(sorted(signs))


def _reached(module: ast.Module, harness: Definition) -> list[Definition]:
    """The harness, and the definitions of this file that it leads to."""
    defined: dict[str, Definition] = {
        node.name: node
        for node in module.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    reached = [harness]
    for definition in reached:  # grows while it is walked
        for node in ast.walk(definition):
            name = node.id if isinstance(node, ast.Name) else ""
            name = node.arg if isinstance(node, ast.arg) else name  # a fixture it asks for
            found = defined.get(name)
            if found is not None and found not in reached:
                reached.append(found)
    return reached


# What answers a case.


def _answering_signs(module: ast.Module, harness: Function) -> Iterator[Sign]:
    constants = assignments(module)
    local = assignments(harness)
    for value in returned(harness):
        for expression in local.get(root_name(value), [value]):
            if _is_mock(expression):
                yield Sign(expression.lineno, "mock", f"{HARNESS} returns a mock, not an agent")
    for function in _answering_functions(module, harness):
        yield from _mock_answers(function, {**constants, **local})
        yield from _invented_input(function)
        if _is_placeholder(function):
            yield Sign(function.lineno, "placeholder", f"{HARNESS} is not implemented yet")
        elif answers_are_canned(function, {**constants, **local}):
            yield Sign(
                function.lineno,
                "canned-answer",
                "the answers stand in the source or repeat the case; no agent is asked",
            )


def _answering_functions(module: ast.Module, harness: Function) -> list[Function]:
    """The functions that a case given to the harness ends up in, as far as this file shows."""
    scopes = (module, harness)
    named = {
        node.name: node
        for scope in scopes
        for node in own_nodes(scope)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    local = assignments(harness)
    found: list[Function] = []
    for value in returned(harness):
        for expression in local.get(value.id, [value]) if isinstance(value, ast.Name) else [value]:
            if isinstance(expression, ast.Lambda):
                found.append(expression)
                continue
            target = named.get(root_name(expression))
            if isinstance(target, ast.ClassDef):
                found += _answering_methods(target)
            elif target is not None and isinstance(expression, ast.Name):
                found.append(target)
    return found


def _answering_methods(definition: ast.ClassDef) -> list[Function]:
    return [
        node
        for node in definition.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name in _ANSWERING_METHODS
    ]


def _mock_answers(function: Function, around: dict[str, list[ast.expr]]) -> Iterator[Sign]:
    bound = {**around, **assignments(function)}
    for answer in returned(function):
        if any(_is_mock(value) for value in bound.get(root_name(answer), [answer])):
            yield Sign(answer.lineno, "mock", "the answer comes from a mock, not from an agent")


def _is_mock(expression: ast.expr) -> bool:
    """Whether an expression is a mock, or something taken from one."""
    while isinstance(expression, (ast.Attribute, ast.Call, ast.Await)):
        if called_name(expression) in _MOCKS:
            return True
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return False


def _is_placeholder(function: Function) -> bool:
    if isinstance(function, ast.Lambda) or not function.body:
        return False
    last = function.body[-1]
    return (
        isinstance(last, ast.Raise)
        and last.exc is not None
        and root_name(last.exc) == "NotImplementedError"
        and not returned(function)
    )


def _invented_input(function: Function) -> Iterator[Sign]:
    names = set(parameter_names(function))
    message = "text stands in for the case's input where that is missing"
    for node in own_nodes(function):
        match node:
            case ast.BoolOp(op=ast.Or(), values=[first, *_, last]):
                invented = _is_part_of(first, names) and _is_text(last)
            case ast.IfExp(body=given, orelse=otherwise):
                invented = _is_part_of(given, names) and _is_text(otherwise)
            case ast.Call(func=ast.Attribute(value=row, attr="get"), args=[_, default]):
                invented = root_name(row) in names and _is_text(default)
            case _:
                invented = False
        if invented:
            assert isinstance(node, ast.expr)
            yield Sign(node.lineno, "invented-input", message)


def _is_part_of(expression: ast.expr, names: set[str]) -> bool:
    return root_name(expression) in names


def _is_text(expression: ast.expr) -> bool:
    return (
        isinstance(expression, ast.Constant)
        and isinstance(expression.value, str)
        and expression.value != ""
    )


# Single places in what the harness reaches.


def _stand_in(node: ast.AST) -> Iterator[Sign]:
    name = node.name if isinstance(node, ast.ClassDef) else called_name(node)
    words = name_words(name)
    if isinstance(node, (ast.ClassDef, ast.Call)) and words & _STAND_IN and words & _AGENT:
        yield Sign(node.lineno, "replacement-agent", f"{name} stands in for the agent")


def _constructor_bypass(node: ast.AST) -> Iterator[Sign]:
    if not isinstance(node, ast.Call) or called_name(node) != "__new__":
        return
    made = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    if any(name_words(root_name(each)) & _AGENT for each in (*made, *node.args[:1])):
        yield Sign(node.lineno, "constructor-bypass", "an agent is made without its constructor")


def _swallowed_error(node: ast.AST) -> Iterator[Sign]:
    message = "an error of the agent is swallowed, and the trial goes on as if nothing were wrong"
    if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and _only_hides(node.body):
        yield Sign(node.lineno, "swallowed-error", message)
    if (
        isinstance(node, ast.Call)
        and called_name(node) == "suppress"
        and any(_is_broad(caught) for caught in node.args)
    ):
        yield Sign(node.lineno, "swallowed-error", message)


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_broad(each) for each in caught.elts)
    return caught is None or root_name(caught) in ("Exception", "BaseException")


def _only_hides(body: list[ast.stmt]) -> bool:
    def hides(statement: ast.stmt) -> bool:
        match statement:
            case ast.Pass() | ast.Continue() | ast.Break() | ast.Return(value=None):
                return True
            case ast.Return(value=ast.Constant()) | ast.Expr(value=ast.Constant()):
                return True
            case ast.Expr(value=ast.Call() as call):
                return called_name(call) in _LOGGERS
            case _:
                return False

    return all(hides(statement) for statement in body)


_NODE_CHECKS: tuple[Callable[[ast.AST], Iterator[Sign]], ...] = (
    _stand_in,
    _constructor_bypass,
    _swallowed_error,
)


# The whole file.


def _import_fallbacks(module: ast.Module) -> Iterator[Sign]:
    for node in ast.walk(module):
        if not isinstance(node, ast.Try):
            continue
        imported = {
            (alias.asname or alias.name).partition(".")[0]
            for statement in node.body
            if isinstance(statement, (ast.Import, ast.ImportFrom))
            for alias in statement.names
        }
        for handler in node.handlers:
            if _catches_import_errors(handler.type):
                for name, line in _replacements(handler):
                    if name in imported:
                        message = f"{name} is replaced when its import fails"
                        yield Sign(line, "import-fallback", message)


def _catches_import_errors(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_catches_import_errors(each) for each in caught.elts)
    return _is_broad(caught) or (caught is not None and root_name(caught) in _IMPORT_ERRORS)


def _replacements(handler: ast.ExceptHandler) -> Iterator[tuple[str, int]]:
    for node in handler.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, node.lineno) for alias in node.names)
    for name, values in assignments(handler).items():
        for value in values:
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield name, value.lineno


def _coverage_shims(module: ast.Module) -> Iterator[Sign]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == "pytest_addoption":
            for part in ast.walk(node):
                option = part.value if isinstance(part, ast.Constant) else None
                if isinstance(option, str) and option.startswith("--cov"):
                    message = f"the option {option} is declared here, so coverage is not measured"
                    yield Sign(node.lineno, "coverage-shim", message)
