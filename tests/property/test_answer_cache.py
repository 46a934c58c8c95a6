"""Any answer comes back as it was, or, with a single byte changed, not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.models.answer_cache import AnswerCache, key_of
from seatrial.snapshot import Json, JsonObject

texts = st.text(st.characters(exclude_categories=()), max_size=20)
values: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
documents = st.dictionaries(texts, values, max_size=5)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> AnswerCache:
    return AnswerCache(tmp_path_factory.mktemp("cache"))


@given(question=documents, answer=documents)
def test_any_answer_comes_back(
    cache: AnswerCache, question: JsonObject, answer: JsonObject
) -> None:
    key = key_of(question)
    assert cache.put(key, answer)
    found = cache.get(key)
    assert found == answer
    assert repr(found) == repr(answer)  # 1, 1.0 and True are equal


@given(question=documents)
def test_a_key_outlives_the_order_of_names(question: JsonObject) -> None:
    assert key_of(dict(reversed(question.items()))) == key_of(question)


@given(answer=documents, data=st.data())
def test_an_answer_with_any_byte_changed_is_a_miss(
    cache: AnswerCache, answer: JsonObject, data: st.DataObject
) -> None:
    key = key_of({"answer": answer})
    cache.put(key, answer)
    path = cache.folder / key[:2] / f"{key}.json"
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    assert cache.get(key) is None
    assert not path.exists()


@given(key=st.text(max_size=70))
def test_no_other_text_is_a_key(cache: AnswerCache, key: str) -> None:
    before = sorted(path for path in Path(cache.folder.parent).rglob("*"))
    with pytest.raises(ValueError, match="expected 64 hexadecimal digits"):
        cache.put(key, {})
    assert sorted(path for path in Path(cache.folder.parent).rglob("*")) == before
