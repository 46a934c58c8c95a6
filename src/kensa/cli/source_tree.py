"""Small questions to Python syntax trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeAlias

__all__ = [
    "Definition",
    "Function",
    "assignments",
    "called_name",
    "name_words",
    "own_nodes",
    "parameter_names",
    "returned",
    "root_name",
]

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"
Definition: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef"

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes below `scope` that belong to it; nested functions and classes are not entered."""
    pending = list(ast.iter_child_nodes(scope))[::-1]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending.extend(list(ast.iter_child_nodes(node))[::-1])


def returned(function: Function) -> list[ast.expr]:
    """What a function itself returns or yields; a bare `return` is left out."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [
        node.value
        for node in own_nodes(function)
        if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None
    ]


def parameter_names(function: Function) -> list[str]:
    """The names of a function's parameters, without `self`."""
    arguments = function.args
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    extra = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [each.arg for each in (*listed, *extra) if each.arg != "self"]


def assignments(scope: ast.AST) -> dict[str, list[ast.expr]]:
    """Every value that `scope` itself assigns to each plain name."""
    found: dict[str, list[ast.expr]] = {}
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(value)
    return found


def called_name(node: ast.AST) -> str:
    """The last part of a called name: `b` of `a.b()`; empty for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    called = node.func
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def root_name(expression: ast.expr) -> str:
    """The name that an expression starts from: `a` of `await a.b(c)[d]`; empty if it has none."""
    while True:
        match expression:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Await(value=inner):
                expression = inner
            case ast.Call(func=inner):
                expression = inner
            case _:
                return ""


def name_words(name: str) -> set[str]:
    """The words of a name, lower-cased: `FakeLLMAgent` and `fake_llm_agent` have the same."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return {part.lower() for part in parts}
