"""Which part of a document's text stands on which page of its rendition, and where its tables do.

The text comes from the document itself, so nothing in it says where a page ends; and a rendition
shows what the text leaves out (running heads, menus) and not all that it has (what is hidden).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

from eagle_rag_core.ingest.tiles.alignment import Alignment
from eagle_rag_core.ingest.tiles.flow import table_spans
from eagle_rag_core.ingest.tiles.pdf_layout import PageLayout, read_layouts
from eagle_rag_core.ingest.tiles.regions import is_inside
from eagle_rag_core.ingest.tiles.words import Word
from eagle_rag_core.types import Box, PageSpan, ParsedDocument

#: How far ahead in the text a page is looked for, in lengths of the page and characters more; and
#: what a character counts there that is not on the page. At first the page is where the one before
#: ends; else something was left out, and it is looked for further ahead.
_REACHES: Final = ((1.2, 400, 0.5), (8.0, 20_000, 0.03))
#: Of a page's letters, so that it is found.
_ENOUGH: Final = 0.15
#: Marks, and the line end with the empty line below it.
_REST_OF_LINE: Final = re.compile(r"[^\w\n]*\n*")
#: Between words there are a blank and a mark.
_NEXT: Final = 3
#: Around the words of a table, in shares of the page.
_MARGIN: Final = 0.006


def with_pages(parsed: ParsedDocument, pdf: bytes) -> ParsedDocument:
    """The document with the pages of its rendition; slides have theirs already."""
    if parsed.pages:
        return parsed
    pages = ((layout.number, layout.words) for layout in read_layouts(pdf))
    return replace(parsed, pages=tuple(spans_of(parsed.text, pages)))


def spans_of(text: str, pages: Iterable[tuple[int, Sequence[Word]]]) -> list[PageSpan]:
    """The parts of a text that stand on successive pages, without gaps; pages of which nothing
    stands in the text have none.

    :param pages: number and words of each.
    """
    spans: list[PageSpan] = []
    position = 0
    for number, words in pages:
        end = _end_of_page(text, position, words)
        if end > position:
            spans.append(PageSpan(number, position, end))
            position = end
    if spans:  # what follows, such as footnotes, stands on no page of its own
        spans[-1] = replace(spans[-1], end=len(text))
    return spans


def with_tables(layout: PageLayout, text: str, span: PageSpan) -> PageLayout:
    """The layout with the tables that the text has, in place of those that it was taken to have.

    :param text: of the whole document.
    """
    tables: list[tuple[Box, str]] = []
    alignment: Alignment | None = None
    for start, end in _tables_within(text, span):
        alignment = alignment or Alignment(text[span.start : span.end], layout.words)
        words = alignment.between(start - span.start, end - span.start)
        if words:
            written = reduce(Box.union, (layout.words[word].box for word in words))
            drawn = (box for box, _ in layout.tables if is_inside(written, box))
            tables.append((next(drawn, _widened(written)), text[start:end].strip()))
    return replace(layout, tables=tables)


def _end_of_page(text: str, start: int, words: Sequence[Word]) -> int:
    """Where the part of the text ends that stands on a page; ``start`` where none does."""
    letters = sum(len(word.text) for word in words)
    for lengths, more, cost in _REACHES:
        reach = text[start : start + int(lengths * letters) + more]
        end, worth = _best_end(Alignment(reach, words), cost)
        if worth > _ENOUGH * letters:
            behind = _REST_OF_LINE.match(text, start + end)
            return behind.end() if behind else start + end
    return start


def _best_end(alignment: Alignment, cost: float) -> tuple[int, float]:
    """The end up to which most of a text is on the page, and least is not."""
    best, worth, end, value = 0, 0.0, 0, 0.0
    for word, offset in sorted(alignment.offsets().items(), key=lambda item: item[1]):
        length = len(alignment.words[word].text)
        value += length - cost * max(0, offset - end - _NEXT)
        end = max(end, offset + length)
        if value > worth:
            best, worth = end, value
    return best, worth


def _tables_within(text: str, span: PageSpan) -> Iterator[tuple[int, int]]:
    for start, end in table_spans(text):
        start, end = max(start, span.start), min(end, span.end)
        if start < end:
            yield start, end


def _widened(box: Box) -> Box:
    return Box.of(box.x0 - _MARGIN, box.y0 - _MARGIN, box.x1 + _MARGIN, box.y1 + _MARGIN)
