from __future__ import annotations

from dataclasses import replace

import pytest

from rampart import Payload, PayloadConverter
from rampart.converters import (
    Base64Converter,
    CaseConverter,
    Chain,
    ReversedConverter,
    Rot13Converter,
)


class Shout:
    """A converter that knows nothing of ours."""

    async def convert_async(self, *, payload: Payload) -> Payload:
        return replace(payload, content=f"{payload.content}!")


@pytest.mark.asyncio
async def test_converters_are_applied_from_left_to_right() -> None:
    chain = ReversedConverter() | Shout() | Base64Converter()
    converted = await chain.convert_async(payload=Payload(content="key", id="p1"))
    assert Base64Converter().revert(converted.content) == "yek!"
    assert converted.id == "p1"


@pytest.mark.asyncio
async def test_the_metadata_names_all_of_ours_in_order_and_keeps_the_rest() -> None:
    payload = Payload(content="key", metadata={"template": "t"})
    converted = await Chain(Rot13Converter(), Base64Converter()).convert_async(payload=payload)
    assert converted.metadata == {"template": "t", "converter": "Rot13Converter | Base64Converter"}
    assert payload.metadata == {"template": "t"}


def test_a_chain_of_chains_is_one_chain() -> None:
    shout = Shout()
    left = shout | (Rot13Converter() | Base64Converter())
    right = (shout | Rot13Converter()) | Base64Converter()
    assert left.converters == right.converters == (shout, Rot13Converter(), Base64Converter())
    assert isinstance(left, PayloadConverter)


def test_a_chain_is_reversible_if_all_in_it_are() -> None:
    chain = ReversedConverter() | Base64Converter()
    assert chain.reversible
    assert chain.revert("eWVr") == "key"


@pytest.mark.parametrize("other", [CaseConverter(), Shout()])
def test_a_chain_with_one_that_cannot_be_undone_says_which(other: PayloadConverter) -> None:
    chain = Chain(Base64Converter(), other)
    assert not chain.reversible
    with pytest.raises(TypeError, match=f"{type(other).__name__} is not reversible"):
        chain.revert("eWVr")


def test_an_empty_chain_is_refused() -> None:
    with pytest.raises(TypeError, match="at least one converter"):
        Chain()


@pytest.mark.parametrize("wrong", ["base64", None, Base64Converter])
def test_what_is_no_converter_is_refused_with_its_place(wrong: object) -> None:
    with pytest.raises(TypeError, match="converter 1 of a Chain must have convert_async"):
        Chain(Rot13Converter(), wrong)  # type: ignore[arg-type]
