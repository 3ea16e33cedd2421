"""Markdown: exact heading offsets, front matter, bad input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.markdown import MarkdownParser
from eagle_rag_core.types import ParsedDocument

PARSER = MarkdownParser()


def parse(text: str) -> ParsedDocument:
    return PARSER.parse(text.encode(), "a.md")


def outline(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in parse(text).headings]


def test_atx_and_setext_headings_with_their_offsets() -> None:
    document = parse("# One ##\n\ntext\n\nTwo\n---\n\n   ### Three\n")
    assert [(h.level, h.title) for h in document.headings] == [(1, "One"), (2, "Two"), (3, "Three")]
    for heading in document.headings:
        assert document.text[heading.start :].startswith(heading.title)


def test_the_text_is_the_source() -> None:
    source = "# T\n\n- a\n- **b**\n\n| x | y |\n| - | - |\n| 1 | 2 |\n\n```py\nprint(1)\n```"
    assert parse(source).text == source


def test_headings_are_shown_without_markup() -> None:
    assert outline("# A *b* `c` [d](http://x) &amp; ![e](f.png)") == [(1, "A b c d & e")]


def test_a_link_by_reference_is_resolved_in_a_heading() -> None:
    assert outline("# See [here][1]\n\n[1]: http://example.org") == [(1, "See here")]


def test_marks_inside_code_quotations_and_lists_are_no_headings() -> None:
    assert outline("```\n# code\n```\n\n> # quoted\n\n- # item\n\n# Real") == [(1, "Real")]


def test_html_headings_of_readme_files_count() -> None:
    assert outline('<h1 align="center">My <b>tool</b></h1>\n\ntext') == [(1, "My tool")]


def test_yaml_front_matter_becomes_metadata() -> None:
    document = parse(
        "---\ntitle: 'A: B'\ntags: [x, y]\nkeywords: y, z\nlang: de\ndate: 2024-01-02\n"
        "draft: false\nnested: {a: 1}\n---\n# Heading\n\ntext"
    )
    assert document.title == "A: B"
    assert document.keywords == ("y", "z", "x")
    assert document.language == "de"
    assert document.metadata == {"date": "2024-01-02", "draft": "false"}
    assert document.text == "# Heading\n\ntext"
    assert document.headings[0].start == 2


def test_toml_front_matter_becomes_metadata() -> None:
    document = parse('+++\ntitle = "T"\ntags = ["a"]\n+++\ntext')
    assert (document.title, document.keywords, document.text) == ("T", ("a",), "text")


@pytest.mark.parametrize(
    "block", ["---\n: : [\n---\ntext", "---\njust a line\n---\ntext", "---\ntext without an end"]
)
def test_a_block_that_is_no_front_matter_stays_in_the_text(block: str) -> None:
    assert parse(block).text == block


def test_deeply_nested_front_matter_does_no_harm() -> None:
    block = "---\na: " + "[" * 5_000 + "\n---\ntext"
    assert parse(block).text == block


def test_the_first_topmost_heading_is_the_title() -> None:
    assert parse("## Sub\n\n# Main\n\n# Other").title == "Main"


def test_crlf_and_control_characters_do_not_shift_offsets() -> None:
    document = PARSER.parse(b"\xef\xbb\xbfa\x00b\r\n\r\n# T\r\n", "a.md")
    assert document.text == "ab\n\n# T"
    assert document.text[document.headings[0].start :] == "T"


@pytest.mark.parametrize("source", ["---\ntitle: x\n---\n", "***\n\n---", "   \n\n"])
def test_nothing_to_read_is_an_empty_document(source: str) -> None:
    with pytest.raises(IngestError) as caught:
        parse(source)
    assert caught.value.code == ErrorCode.EMPTY_DOCUMENT


def test_binary_content_is_refused() -> None:
    with pytest.raises(IngestError, match="not a text file"):
        PARSER.parse(bytes(range(256)) * 8, "a.md")


@given(st.text(st.sampled_from("#=-*_`[](){}<>!|>\\ \n\tabc1.&;"), max_size=200))
def test_any_markup_gives_headings_inside_the_text(source: str) -> None:
    try:
        document = parse(source)
    except IngestError as error:
        assert error.code == ErrorCode.EMPTY_DOCUMENT
        return
    starts = [heading.start for heading in document.headings]
    assert starts == sorted(starts)
    assert all(0 <= start < len(document.text) for start in starts)
