from __future__ import annotations

import contextlib
import json
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kensa.case import kensa_case
from kensa.errors import KensaCaseError
from kensa.judge import JudgeResult
from kensa.messages import checked_messages
from kensa.trace import Tools

tools = st.lists(st.sampled_from("abcd"), max_size=8)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def is_subsequence(wanted: list[str], calls: list[str]) -> bool:
    """The definition, by recursion: the slow model that `order` is compared with."""
    if not wanted:
        return True
    return any(
        call == wanted[0] and is_subsequence(wanted[1:], calls[place + 1 :])
        for place, call in enumerate(calls)
    )


@given(calls=tools, wanted=st.lists(st.sampled_from("abcd"), max_size=4))
def test_tools_agree_with_their_definitions(calls: list[str], wanted: list[str]) -> None:
    seen = Tools(calls)

    assert seen.order(wanted) is is_subsequence(wanted, calls)
    assert seen.include(wanted) is all(name in calls for name in wanted)
    assert seen.exclude(wanted) is (not any(name in calls for name in wanted))
    assert seen.no_repeats() is all(calls.count(name) == 1 for name in calls)


# Near misses: the right keys with values that are sometimes right.
keys = st.sampled_from(
    ["role", "content", "name", "tool_calls", "tool_call_id", "id", "type", "function", "arguments"]
)
words = st.sampled_from(
    ["developer", "system", "user", "assistant", "tool", "function", "c1", "{}", "[", ""]
)
near_misses = st.recursive(
    words | json_values | st.binary(max_size=2) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(keys | st.integers(), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(messages=near_misses | st.lists(near_misses, max_size=4))
def test_no_input_makes_the_check_of_messages_raise_anything_else(messages: Any) -> None:
    with contextlib.suppress(KensaCaseError):
        assert checked_messages(messages) == list(messages)


@given(value=json_values)
def test_a_case_is_not_changed_by_what_a_trial_does_to_its_input(value: Any) -> None:
    before = deepcopy(value)
    case = kensa_case(id="a", input=value)

    for copy in (value, case.input, case.row["input"]):
        if isinstance(copy, (list, dict)):
            copy.clear()

    assert case.input == before
    assert case.row == {"id": "a", "input": before}


@given(metadata=st.dictionaries(st.text(max_size=5), near_misses, max_size=4), reasoning=st.text())
def test_every_judgement_is_strict_json(metadata: dict[str, Any], reasoning: str) -> None:
    document = JudgeResult(passed=True, reasoning=reasoning, metadata=metadata).to_dict()

    assert json.loads(json.dumps(document, allow_nan=False)) == document
