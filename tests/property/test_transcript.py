"""Whatever is said, the document parses to exactly that, and hides nothing."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from rampart import Request, Response, ToolCall, Turn
from rampart.transcript import transcript_of
from seatrial.models.document import as_document

_texts = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cs", "Cf", "Cc", "Co"]),
        st.sampled_from('"\\{}[]<>|\n\u2028'),
    ),
    max_size=40,
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.tuples(_texts, _texts, _texts), max_size=4), st.dictionaries(_texts, _json))
def test_a_document_parses_to_exactly_the_turns_that_happened(
    said: list[tuple[str, str, str]], arguments: dict[str, object]
) -> None:
    turns = [
        Turn(
            request=Request(prompt=user),
            response=Response(
                text=agent, tool_calls=[ToolCall(name=tool, arguments=arguments, result=user)]
            ),
        )
        for user, agent, tool in said
    ]
    document = as_document({"turns": transcript_of(turns).turns})
    assert json.loads(document)["turns"] == [
        {
            "turn": number,
            "user": user,
            "tool_calls": [{"name": tool, "arguments": arguments, "result": user}],
            "agent": agent,
        }
        for number, (user, agent, tool) in enumerate(said, 1)
    ]


@given(_texts)
def test_nothing_in_a_document_is_hidden_from_its_reader(text: str) -> None:
    document = as_document({"text": text})
    visible = document.replace("\n", "")
    assert not {unicodedata.category(c) for c in visible} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert "<" not in document
    document.encode()
