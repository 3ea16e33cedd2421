"""Which part of a text stands on which page of what a program printed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_rag_core.ingest.tiles.pdf_layout import PageLayout
from eagle_rag_core.ingest.tiles.placing import spans_of, with_tables
from eagle_rag_core.ingest.tiles.words import Word
from eagle_rag_core.types import Box, PageSpan

#: Words to a line of a page.
LINE = 8


def printed(*lines: str) -> list[Word]:
    """The words of lines, each line below the one before."""
    return [
        Word(text, Box.of(0.1 + 0.1 * place, 0.02 * row, 0.18 + 0.1 * place, 0.02 * row + 0.015))
        for row, line in enumerate(lines, start=1)
        for place, text in enumerate(line.split())
    ]


def numbered(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{number}" for number in range(count)]


def lines(words: Sequence[str]) -> list[str]:
    return [" ".join(words[start : start + LINE]) for start in range(0, len(words), LINE)]


def test_pages_follow_each_other_without_gaps() -> None:
    first, second = numbered("river", 80), numbered("delta", 70)
    text = " ".join(first) + ".\n\n" + " ".join(second) + ".\n"
    spans = spans_of(text, [(1, printed(*lines(first))), (2, printed(*lines(second)))])
    border = text.index("delta0")
    assert spans == [PageSpan(1, 0, border), PageSpan(2, border, len(text))]


def test_running_heads_and_pages_without_the_text_are_passed_over() -> None:
    first, second = numbered("river", 80), numbered("delta", 70)
    text = f"{' '.join(first)}\n\n{' '.join(second)}"
    spans = spans_of(
        text,
        [
            (1, printed("Annual report of the harbour", *lines(first), "Page 1")),
            (2, printed("Annual report of the harbour", "Page 2")),
            (3, printed("Annual report of the harbour", *lines(second), "Page 3")),
        ],
    )
    border = text.index("delta0")
    assert spans == [PageSpan(1, 0, border), PageSpan(3, border, len(text))]


def test_a_page_is_found_behind_what_is_not_printed() -> None:
    first, hidden, second = numbered("river", 60), numbered("hidden", 400), numbered("delta", 60)
    text = " ".join([*first, *hidden, *second])
    spans = spans_of(text, [(1, printed(*lines(first))), (2, printed(*lines(second)))])
    assert [span.number for span in spans] == [1, 2]
    assert spans[0].end == text.index("hidden0")
    assert spans[1].end == len(text)


def test_a_document_of_which_nothing_is_printed_has_no_pages() -> None:
    assert spans_of("river " * 50, [(1, printed("entirely different words")), (2, [])]) == []


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(20, 90), min_size=1, max_size=4))
def test_every_page_ends_where_the_next_begins(sizes: list[int]) -> None:
    pages = [numbered(f"page{'abcd'[page]}w", size) for page, size in enumerate(sizes)]
    text = "\n\n".join(" ".join(words) for words in pages)
    spans = spans_of(
        text, ((number, printed(*lines(words))) for number, words in enumerate(pages, start=1))
    )
    assert [span.number for span in spans] == list(range(1, len(pages) + 1))
    assert (spans[0].start, spans[-1].end) == (0, len(text))
    for before, after in pairwise(spans):
        assert before.end == after.start == text.index(pages[after.number - 1][0])


def test_tables_are_those_of_the_text() -> None:
    table = "| Month | Boats |\n| --- | --- |\n| January | 1207 |"
    text = f"Boats in winter.\n\n{table}\n\nMore boats in spring."
    words = printed(
        "Boats in winter.", "", "Month Boats", "January 1207", "", "More boats in spring."
    )
    guessed = Box.of(0.1, 0.9, 0.9, 0.95)
    layout = PageLayout(1, words=words, tables=[(guessed, "a guess")])
    ((box, found),) = with_tables(layout, text, PageSpan(1, 0, len(text))).tables
    assert found == table
    assert 0.05 <= box.y0 < words[3].box.y0
    assert words[6].box.y1 < box.y1 < words[7].box.y0
    assert with_tables(layout, text, PageSpan(1, 0, 10)).tables == []


def test_a_table_has_the_frame_that_is_drawn_around_it() -> None:
    table = "| Month | Boats |\n| --- | --- |\n| January | 1207 |"
    frame = Box.of(0.05, 0.01, 0.9, 0.08)
    layout = PageLayout(1, printed("Month Boats", "January 1207"), [(frame, "as it looks")])
    layout = with_tables(layout, table, PageSpan(1, 0, len(table)))
    assert layout.tables == [(frame, table)]
