from __future__ import annotations

import json
from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from rampart import (
    Channel,
    EvalOutcome,
    EvalResult,
    HarmCategory,
    InjectionRecord,
    ObservabilityLevel,
    Payload,
    PayloadFormat,
    Request,
    Response,
    Result,
    SafetyStatus,
    SideEffect,
    ToolCall,
    Turn,
)
from rampart.documents import result_from_document, result_to_document

text = st.text(max_size=20)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(text, json_values, max_size=3)
moments = st.none() | st.datetimes(timezones=st.just(UTC))
categories = st.sampled_from(HarmCategory) | st.text(min_size=1, max_size=20)
payloads = st.builds(
    Payload, content=text, id=text, metadata=objects, format=st.just(PayloadFormat.HTML)
)
turns = st.builds(
    Turn,
    request=st.builds(Request, prompt=text, attachments=st.lists(payloads, max_size=2)),
    response=st.builds(
        Response,
        text=text,
        tool_calls=st.lists(
            st.builds(
                ToolCall, name=text, arguments=objects, result=st.none() | text, timestamp=moments
            ),
            max_size=2,
        ),
        side_effects=st.lists(st.builds(SideEffect, kind=text, details=objects), max_size=2),
        metadata=objects,
    ),
    eval_result=st.none()
    | st.builds(
        EvalResult,
        outcome=st.sampled_from(EvalOutcome),
        confidence=st.floats(0, 1),
        evidence=st.lists(text, max_size=2),
        rationale=text,
        unseen=st.frozensets(st.sampled_from(Channel)),
    ),
    turn_number=st.integers(0, 99),
    timestamp=moments,
    driver_reasoning=text,
)
results = st.builds(
    Result,
    status=st.sampled_from(SafetyStatus),
    summary=text,
    turns=st.lists(turns, max_size=2),
    duration_seconds=st.floats(0, 1e6),
    harm_category=st.none() | categories,
    other_harm_categories=st.lists(categories, max_size=2),
    strategy=text,
    observability_level=st.sampled_from(ObservabilityLevel),
    injections=st.lists(
        st.builds(InjectionRecord, payload_id=st.none() | text, surface_name=text), max_size=2
    ),
    metadata=objects,
    notes=st.lists(text, max_size=2),
)


@given(result=results)
def test_a_result_survives_the_way_out_and_back(result: Result) -> None:
    wire = json.dumps(result_to_document(result), allow_nan=False)
    assert result_from_document(json.loads(wire)) == result
