from __future__ import annotations

import pytest

from rampart.payloads import PayloadTemplate


def template(instruction: str, **variables: str) -> PayloadTemplate:
    return PayloadTemplate(
        name="mail", description="d", objective="o", instruction=instruction, variables=variables
    )


@pytest.mark.parametrize(
    ("instruction", "resolved"),
    [
        ("Write to {to} about {topic}.", "Write to bob about {x}."),
        ('Answer {"to": "{to}"} or {}.', 'Answer {"to": "bob"} or {}.'),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ("{{to}} is {to}", "{to} is bob"),
        ("{to.__class__} {to!r} {to:>9} {0}", "{to.__class__} {to!r} {to:>9} {0}"),
        ("{{to}", "{bob"),
        ("no variable", "no variable"),
    ],
)
def test_only_names_in_braces_are_variables(instruction: str, resolved: str) -> None:
    assert template(instruction, to="bob", topic="{x}", unused="u").resolve() == resolved


def test_a_value_is_not_looked_into() -> None:
    assert template("{a}", a="{b} {{c}}", b="secret").resolve() == "{b} {{c}}"


def test_a_variable_without_a_value_is_named_with_those_that_have_one() -> None:
    with pytest.raises(KeyError, match="template 'mail': no variable 'topic'; there are to"):
        template("{to} {topic}", to="bob").resolve()


def test_variables_are_replaced_in_a_copy() -> None:
    original = template("{a}{b}", a="1", b="2")
    changed = original.with_variables(b="3")
    assert changed.resolve() == "13"
    assert original.resolve() == "12"
    assert type(changed) is PayloadTemplate
