from __future__ import annotations

from pathlib import Path

import pytest

from rampart import Payload, PayloadConverter, PayloadFormat
from rampart import converters as package
from rampart.converters import Base64Converter, ReversibleTextConverter, TextConverter


class Doubled(TextConverter):
    """What a user writes."""

    def convert(self, text: str) -> str:
        return text * 2


@pytest.mark.asyncio
async def test_only_the_content_and_the_converter_change() -> None:
    payload = Payload(
        content="key", id="p1", format=PayloadFormat.MARKDOWN, metadata={"variant_index": 3}
    )
    converted = await Doubled().convert_async(payload=payload)
    assert converted == Payload(
        content="keykey",
        id="p1",
        format=PayloadFormat.MARKDOWN,
        metadata={"variant_index": 3, "converter": "Doubled"},
    )


@pytest.mark.asyncio
async def test_a_file_is_not_converted_as_text(tmp_path: Path) -> None:
    file = tmp_path / "x.pdf"
    file.write_bytes(b"%PDF-")
    payload = Payload(content="key", id="p1", format=PayloadFormat.PDF, artifact=file)
    with pytest.raises(
        ValueError, match=r"Base64Converter converts a text payload.*'p1' is of.*'pdf'"
    ):
        await Base64Converter().convert_async(payload=payload)


@pytest.mark.parametrize("name", package.__all__)
def test_every_converter_says_in_a_line_what_it_is_and_whether_it_can_be_undone(name: str) -> None:
    kind = getattr(package, name)
    assert (kind.__doc__ or "").splitlines()[0].endswith((".", ",", "same"))
    if name == "Chain":
        return
    assert kind.reversible is issubclass(kind, ReversibleTextConverter)
    assert issubclass(kind, PayloadConverter)
    if name not in {"TextConverter", "ReversibleTextConverter"}:
        assert "Source: " in kind.__doc__
