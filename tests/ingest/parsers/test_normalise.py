"""The normalisation every parser shares, and the builder on top of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder, table_text
from eagle_rag_core.ingest.parsers.normalise import has_words, normalise, one_line

#: Any string a parser may meet, lone surrogates and control characters included.
ANY_TEXT = st.text(st.characters(codec=None))


def test_control_characters_go_and_line_ends_become_newlines() -> None:
    assert normalise("a\x00b\x07\r\nc\rd\x0be\u2028f\ufeff") == "ab\nc\nd\ne\nf"


def test_tabs_and_newlines_stay() -> None:
    assert normalise("a\tb\n\tc") == "a\tb\n\tc"


def test_soft_hyphens_go_because_they_split_words() -> None:
    assert normalise("Donau\u00addampf") == "Donaudampf"


def test_lone_surrogates_and_non_characters_are_replaced() -> None:
    assert normalise("a\ud800b\ufffe") == "a\ufffdb\ufffd"


def test_blanks_at_line_ends_and_long_runs_of_blank_lines_go() -> None:
    assert normalise("a  \t\nb\n\n\n\n\n\nc   ") == "a\nb\n\n\nc"


def test_decomposed_and_compatibility_characters_stay_as_they_are() -> None:
    text = "e\u0301 ﬁ ①"
    assert normalise(text) == text


@given(ANY_TEXT)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    once.encode("utf-8")


def test_a_document_of_blanks_is_handled_in_linear_time() -> None:
    assert normalise(" " * 2_000_000) == ""


def test_one_line_folds_white_space() -> None:
    assert one_line("  a\n b\t c\x00 ") == "a b c"


def test_marks_alone_are_no_words() -> None:
    assert not has_words("--- *** …")
    assert has_words("字")


@given(st.lists(st.tuples(st.sampled_from(["heading", "block", "item"]), ANY_TEXT), max_size=12))
def test_built_text_is_normalised_and_headings_stand_where_they_say(
    parts: list[tuple[str, str]],
) -> None:
    builder = DocumentBuilder()
    for position, (kind, text) in enumerate(parts):
        builder.page(position + 1)
        if kind == "heading":
            builder.heading(text, 1)
        elif kind == "item":
            builder.item(text)
        else:
            builder.block(text)
    document = builder.build("text/plain")
    assert normalise(document.text) == document.text
    for heading in document.headings:
        end = heading.start + len(heading.title)
        assert document.text[heading.start : end] == heading.title
    for page in document.pages:
        assert document.text[page.start : page.end].strip()
    assert [page.start for page in document.pages] == sorted(page.start for page in document.pages)


def test_items_of_a_list_stand_on_neighbouring_lines() -> None:
    builder = DocumentBuilder()
    builder.block("Before")
    builder.item("- one")
    builder.item("  - two")
    builder.block("After")
    assert builder.text() == "Before\n\n- one\n  - two\n\nAfter"


def test_pages_without_text_get_no_span() -> None:
    builder = DocumentBuilder()
    builder.page(1)
    builder.block("one")
    builder.page(2)
    builder.page(3)
    builder.block("three")
    spans = builder.build("text/plain").pages
    assert [(span.number, span.start, span.end) for span in spans] == [(1, 0, 3), (3, 5, 10)]


def test_tables_are_filled_up_and_escaped() -> None:
    text = table_text([["A", "B"], ["1|2"], ["", ""]])
    assert text == "| A | B |\n| --- | --- |\n| 1\\|2 |  |"
