"""Whether a function can only answer with text that stands in its own source."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from kensa.cli.source_tree import (
    Function,
    assignments,
    called_name,
    own_nodes,
    parameter_names,
    returned,
    root_name,
)

__all__ = ["answers_are_canned"]

# Calls that only look at a value or reshape it, and the recorders, which call nothing either.
_PLAIN_CALLS = {
    "bool", "dict", "dumps", "float", "int", "isinstance", "len", "list", "print", "repr", "set",
    "sorted", "str", "tuple",
    "casefold", "endswith", "format", "get", "join", "lower", "replace", "split", "startswith",
    "strip", "title", "upper",
    "record_llm_call", "record_span", "record_tool_call", "set_result",
}  # fmt: skip


def answers_are_canned(function: Function, constants: Mapping[str, list[ast.expr]]) -> bool:
    """Whether every answer is a constant or made of the case alone, and the case goes nowhere.

    A function that hands its case to some call, or uses any call's value, may well run an agent.

    Args:
        function: The function that answers a case.
        constants: What the module assigns to its names.
    """
    answers = returned(function)
    if not answers:
        return _does_nothing(function)
    return not _hands_on_its_case(function) and all(
        _is_canned(answer, function, constants, frozenset()) for answer in answers
    )


def _does_nothing(function: Function) -> bool:
    body = [] if isinstance(function, ast.Lambda) else function.body
    return all(
        isinstance(statement, ast.Pass | ast.Return)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in body
    )


def _hands_on_its_case(function: Function) -> bool:
    carriers = _names_made_of_parameters(function)
    nodes = [function.body] if isinstance(function, ast.Lambda) else []
    for node in (*nodes, *own_nodes(function)):
        if not isinstance(node, ast.Call) or called_name(node) in _PLAIN_CALLS:
            continue
        passed = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(_mentions(value, carriers) for value in passed):
            return True
    return False


def _names_made_of_parameters(function: Function) -> set[str]:
    names = set(parameter_names(function))
    bound = assignments(function)
    for _ in bound:  # each round adds a name or is the last that is needed
        names |= {
            name for name, values in bound.items() if any(_mentions(v, names) for v in values)
        }
    return names


def _mentions(expression: ast.expr, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(expression))


def _is_canned(
    expression: ast.expr,
    function: Function,
    constants: Mapping[str, list[ast.expr]],
    seen: frozenset[str],
) -> bool:
    """Whether nothing but constants and the case's own parts can come out of `expression`."""

    def all_canned(*parts: ast.expr | None) -> bool:
        return all(part is None or _is_canned(part, function, constants, seen) for part in parts)

    match expression:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            if name in parameter_names(function):
                return True
            values = assignments(function).get(name) or constants.get(name) or []
            return (
                bool(values)
                and name not in seen
                and all(_is_canned(v, function, constants, seen | {name}) for v in values)
            )
        case ast.Call():
            arguments = (*expression.args, *(word.value for word in expression.keywords))
            receiver = expression.func.value if isinstance(expression.func, ast.Attribute) else None
            builtin = receiver is None or root_name(receiver) == "json"
            return called_name(expression) in _PLAIN_CALLS and all_canned(
                *arguments, None if builtin else receiver
            )
        case ast.Lambda() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
            return False
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return False
        case _:
            parts = [
                part for part in ast.iter_child_nodes(expression) if isinstance(part, ast.expr)
            ]
            return all_canned(*parts)
