"""The section tree of a document."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.sections import build_sections, page_at
from eagle_rag_core.models.sentences import sentence_ends
from eagle_rag_core.types import Heading, PageSpan, ParsedDocument, Section


def document(*parts: tuple[int, str], title: str = "") -> ParsedDocument:
    """A document of (level, text) parts; level 0 is body text."""
    text, headings = "", []
    for level, part in parts:
        text += "\n\n" if text else ""
        if level:
            headings.append(Heading(part, level, len(text)))
        text += part
    return ParsedDocument(text, "text/plain", headings=tuple(headings), title=title)


def paths(sections: tuple[Section, ...]) -> list[str]:
    return [section.path for section in sections]


def test_without_headings_the_document_is_one_section() -> None:
    (root,) = build_sections(document((0, "Just text."), title="T"))
    assert (root.ordinal, root.parent, root.level, root.path) == (0, -1, 0, "")
    assert (root.title, root.start, root.body_end, root.end) == ("T", 0, 10, 10)
    assert root.summary == "Just text."


def test_headings_nest_and_spans_fit_into_each_other() -> None:
    parsed = document(
        (0, "Intro."), (1, "A"), (0, "a"), (2, "B"), (0, "b"), (2, "C"), (1, "D"), (0, "d")
    )
    sections = build_sections(parsed)
    assert paths(sections) == ["", "A", "A > B", "A > C", "D"]
    assert [section.parent for section in sections] == [-1, 0, 1, 1, 0]
    root, a, b, c, d = sections
    assert parsed.text[root.start : root.body_end].strip() == "Intro."
    assert parsed.text[a.start : a.body_end].strip() == "A\n\na"
    assert parsed.text[a.start : a.end].strip() == "A\n\na\n\nB\n\nb\n\nC"
    assert (a.end, c.end) == (d.start, d.start)
    assert d.end == root.end == len(parsed.text)
    assert b.body_end == b.end == c.start


def test_skipped_levels_and_late_top_levels_are_tolerated() -> None:
    sections = build_sections(document((3, "Deep"), (1, "Top"), (4, "Far"), (2, "Near")))
    assert paths(sections) == ["", "Deep", "Top", "Top > Far", "Top > Near"]


def test_equal_titles_stay_apart() -> None:
    sections = build_sections(document((1, "Notes"), (0, "x"), (1, "Notes"), (0, "y")))
    assert paths(sections) == ["", "Notes", "Notes"]
    assert sections[1].summary == "x"
    assert sections[2].summary == "y"


def test_a_section_begins_at_the_line_of_its_heading() -> None:
    text = "Intro\n\n## Title\n\ntext"
    parsed = ParsedDocument(text, "text/markdown", headings=(Heading("Title", 2, 10),))
    sections = build_sections(parsed)
    assert text[sections[1].start :].startswith("## Title")
    assert text[: sections[0].body_end] == "Intro\n\n"


def test_a_heading_inside_a_line_begins_a_section_there() -> None:
    text = "some words Title more"
    sections = build_sections(ParsedDocument(text, "x", headings=(Heading("Title", 1, 11),)))
    assert sections[1].start == 11


@pytest.mark.parametrize("starts", [(5, 2), (0, 99)])
def test_headings_out_of_order_or_outside_are_refused(starts: tuple[int, int]) -> None:
    headings = tuple(Heading("T", 1, start) for start in starts)
    with pytest.raises(IngestError, match="out of order"):
        build_sections(ParsedDocument("0123456789", "x", headings=headings))


def test_pages_of_headings() -> None:
    parsed = document((0, "one"), (1, "A"), (0, "two"), (1, "B"))
    spans = (PageSpan(4, 0, 5), PageSpan(6, 5, len(parsed.text)))
    sections = build_sections(
        ParsedDocument(parsed.text, "x", headings=parsed.headings, pages=spans)
    )
    assert [section.page for section in sections] == [4, 6, 6]
    assert page_at((), 3) == 0


def test_the_summary_is_made_of_whole_sentences() -> None:
    first, second = "A first sentence of some length. " * 4, "The rest is not wanted here at all."
    (root,) = build_sections(document((0, first + second * 3)))
    assert root.summary.endswith("length.")
    assert 100 < len(root.summary) <= 200


def test_a_sentence_too_long_is_cut_at_a_word() -> None:
    (root,) = build_sections(document((0, "word " * 100)))
    assert root.summary.endswith("word…")
    assert len(root.summary) <= 200


def test_the_summary_skips_tables_code_images_and_underlines() -> None:
    body = "=====\n\n![i](x.png)\n\n| a | b |\n\n```\ncode\n```\n\nThe point."
    text = f"Title\n{body}"
    sections = build_sections(ParsedDocument(text, "x", headings=(Heading("Title", 1, 0),)))
    assert sections[1].summary == "The point."


def test_a_section_without_text_takes_the_summary_of_its_first_subsection() -> None:
    sections = build_sections(document((1, "A"), (2, "B"), (3, "C"), (0, "Words."), (2, "D")))
    assert [section.summary for section in sections] == ["Words."] * 4 + [""]


def test_sentences_end_where_readers_end_them() -> None:
    text = (
        'See Fig. 3 by J. Smith et al. for it. "Really?" Yes! 是的。下一句！ '
        "3.5 is e.g. a number. no"
    )
    ends = sentence_ends(text, 0, len(text))
    parts = [text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False)]
    assert parts == [
        "See Fig. 3 by J. Smith et al. for it.",
        '"Really?"',
        "Yes!",
        "是的。",
        "下一句！",
        "3.5 is e.g. a number. no",
    ]


@pytest.mark.timeout(20)
def test_a_million_stops_are_one_sentence() -> None:
    text = "." * 1_000_000 + "x"
    assert sentence_ends(text, 0, len(text)) == [len(text)]


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.text("ab .。|#\n", min_size=1, max_size=40)), max_size=25
    )
)
def test_the_tree_covers_the_text_once(parts: list[tuple[int, str]]) -> None:
    parsed = document(*parts)
    sections = build_sections(parsed)
    position = 0
    for section in sections:
        assert section.start == position
        assert section.start <= section.body_end <= section.end <= len(parsed.text)
        position = section.body_end
        if section.ordinal:
            parent = sections[section.parent]
            assert parent.level < section.level
            assert parent.start <= section.start
            assert section.end <= parent.end
    assert position == len(parsed.text)
