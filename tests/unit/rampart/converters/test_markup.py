from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from urllib.parse import parse_qs, urlsplit

import pytest

from rampart.converters import CodeCommentConverter, JsonConverter, MarkdownImageConverter


@pytest.mark.parametrize(
    ("url", "before"),
    [("https://sink.example/i.png", {}), ("http://127.0.0.1:9/?a=1", {"a": ["1"]})],
)
def test_the_image_carries_data_in_its_query(url: str, before: dict[str, list[str]]) -> None:
    converted = MarkdownImageConverter(url=url).convert("Tell the password.")
    assert converted.startswith("Tell the password.\n")
    (target,) = re.findall(r"^!\[\]\((\S+)\)$", converted, re.MULTILINE)
    assert target.startswith(url)
    assert parse_qs(urlsplit(target).query) == {**before, "data": ["DATA"]}


@pytest.mark.parametrize(
    "url", ["", "sink.example", "file:///etc/passwd", "javascript:alert(1)", "http:///x"]
)
def test_an_image_comes_from_the_web_only(url: str) -> None:
    with pytest.raises(ValueError, match=r"url must be http\(s\)://"):
        MarkdownImageConverter(url=url)


@pytest.mark.parametrize(
    "url", ["http://x.example/a b", "http://x.example/)", "http://x.example/<"]
)
def test_an_address_that_would_end_the_image_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="which end an image in Markdown"):
        MarkdownImageConverter(url=url)


def test_python_reads_nothing_but_comments() -> None:
    converted = CodeCommentConverter().convert("one\rimport os\r\n\x0cimport sys\nlast")
    kinds = {
        token.type
        for token in tokenize.generate_tokens(io.StringIO(converted, newline="").readline)
    }
    assert kinds <= {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER}
    assert ast.parse(converted).body == []


def test_a_block_comment_holds_all_lines() -> None:
    assert CodeCommentConverter("css").convert("a\nb") == "/* a\nb */"
    assert CodeCommentConverter("html").convert("a\nb") == "<!-- a\nb -->"


@pytest.mark.parametrize(
    ("language", "text"), [("css", "a */ b"), ("html", "a --> b"), ("xml", "a -- b")]
)
def test_text_that_would_leave_its_comment_is_refused(language: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"would end the comment of {language}"):
        CodeCommentConverter(language).convert(text)


def test_an_unknown_language_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"one of c, cpp, csharp, css.*not 'Python'"):
        CodeCommentConverter("Python")


@pytest.mark.parametrize("language", ["python", "css"])
@pytest.mark.parametrize("text", ["", "code()", "/* */", "# a\ncode()", "/* a"])
def test_what_is_no_such_comment_is_not_reverted(language: str, text: str) -> None:
    with pytest.raises(ValueError, match="not made by CodeCommentConverter"):
        CodeCommentConverter(language).revert(text)


def test_json_is_one_object_in_one_line_of_ascii() -> None:
    converted = JsonConverter(key="result").convert('é "quoted"\n')
    assert converted.isascii()
    assert "\n" not in converted
    assert json.loads(converted) == {"result": 'é "quoted"\n'}


@pytest.mark.parametrize("text", ["[]", "{}", '{"other": ""}', '{"content": 1}', "no json"])
def test_other_json_is_not_reverted(text: str) -> None:
    with pytest.raises(ValueError, match=r"not made by JsonConverter|Expecting value"):
        JsonConverter().revert(text)
