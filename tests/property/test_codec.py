"""Whatever a record holds survives the wire, and damage is an error of its own kind."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial import codec
from seatrial.errors import CodecError
from seatrial.outcome import FailureOwner, Outcome
from seatrial.run import PlannedTrial
from seatrial.snapshot import snapshot
from seatrial.trace import Span, Trace
from seatrial.trial import Amendment, Failure, TrialKey, TrialRecord

# Lone surrogates included: models and documents produce them.
texts = st.text(st.characters(exclude_categories=()), max_size=20)
names = texts.filter(bool)
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, json_values, max_size=3)
# What applications put on spans: anything, NaN and objects included.
attributes = st.dictionaries(
    texts, st.floats() | texts | st.binary(max_size=5) | st.sets(numbers, max_size=2), max_size=3
).map(snapshot)
failures = st.builds(Failure, owner=st.sampled_from(FailureOwner), kind=names, message=texts)
keys = st.integers(1, 50).flatmap(
    lambda total: st.builds(
        TrialKey,
        face=st.sampled_from(["rampart", "kensa"]),
        test=texts,
        case=texts,
        index=st.integers(1, total),
        total=st.just(total),
    )
)
nanoseconds = st.none() | st.integers(0, 2**63)
spans: st.SearchStrategy[Span] = st.builds(
    Span,
    name=texts,
    kind=texts,
    tool_name=st.none() | texts,
    trace_id=texts,
    span_id=texts,
    parent_span_id=st.none() | texts,
    start_ns=nanoseconds,
    end_ns=nanoseconds,
    status=st.sampled_from(["ok", "error", "open"]),
    attributes=attributes,
)
traces = st.builds(
    Trace,
    spans=st.lists(spans, max_size=3).map(tuple),
    missing=st.none() | texts,
    observed=st.booleans(),
)


def many(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(strategy, max_size=3).map(tuple)


records = st.builds(
    TrialRecord,
    key=keys,
    nodeid=texts,
    outcome=st.sampled_from(Outcome),
    failure=failures,
    results=many(objects),
    judgements=many(objects),
    trace=st.none() | traces,
    case=json_values,
    output=json_values,
    notes=many(texts),
    harms=many(texts),
    duration_s=st.floats(0, 1e9),
    started_at=st.floats(0, 1e10),
    attempt=st.integers(1, 9),
    position=st.integers(0, 10**6),
    asserted=st.booleans(),
)


@given(record=records)
def test_a_record_survives_the_wire(record: TrialRecord) -> None:
    assert codec.load_record(codec.dump_record(record)) == record


@given(record=records)
def test_a_stored_record_is_one_line_of_ascii_and_strict_json(record: TrialRecord) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    text = codec.dump_record(record)
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text, parse_constant=refuse)["seatrial"] == codec.SCHEMA_VERSION


@given(
    amendment=st.builds(
        Amendment,
        nodeid=texts,
        outcome=st.sampled_from(Outcome),
        failure=st.none() | failures,
        results=many(objects),
    )
)
def test_an_amendment_survives_the_wire(amendment: Amendment) -> None:
    assert codec.load_amendment(codec.dump_amendment(amendment)) == amendment


@given(
    plan=many(
        st.builds(
            PlannedTrial,
            nodeid=texts,
            key=keys,
            name=texts,
            policy=objects,
            position=st.integers(0, 9),
        )
    )
)
def test_a_plan_survives_the_wire(plan: tuple[PlannedTrial, ...]) -> None:
    assert codec.load_plan(codec.dump_plan(plan)) == plan


@given(record=records, field=st.sampled_from(["key", "outcome", "failure", "trace", "results"]))
def test_a_record_that_lacks_a_field_is_damaged_and_nothing_worse(
    record: TrialRecord, field: str
) -> None:
    document = json.loads(codec.dump_record(record))
    del document[field]
    with pytest.raises(CodecError, match=f"damaged trial: KeyError: '{field}'"):
        codec.load_record(json.dumps(document))


@given(
    record=records,
    field=st.sampled_from(["key", "outcome", "failure", "trace", "results", "notes", "attempt"]),
    value=json_values,
)
def test_a_record_with_any_value_in_a_field_is_read_or_refused(
    record: TrialRecord, field: str, value: Any
) -> None:
    document = json.loads(codec.dump_record(record))
    document[field] = value
    with contextlib.suppress(CodecError):
        assert isinstance(codec.load_record(json.dumps(document)), TrialRecord)


@given(text=texts | json_values.map(json.dumps))
def test_text_that_is_no_record_is_refused_with_one_kind_of_error(text: str) -> None:
    for load in (codec.load_record, codec.load_amendment, codec.load_plan):
        with pytest.raises(CodecError, match=r"^not a stored "):
            load(text)


def test_deeply_nested_text_is_refused_like_any_other() -> None:
    with pytest.raises(CodecError, match=r"^not a stored trial: "):
        codec.load_record("[" * 200_000)


@given(version=st.integers(2, 99))
def test_a_newer_schema_says_what_it_needs(version: int) -> None:
    text = json.dumps({"seatrial": version, "kind": "plan", "trials": []})
    with pytest.raises(CodecError, match=f"schema version {version};.*Install a newer seatrial"):
        codec.load_plan(text)
