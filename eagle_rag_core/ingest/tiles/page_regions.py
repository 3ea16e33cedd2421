"""The regions of one page: itself, its figures and tables, and the sections on it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from typing import Final

from eagle_rag_core.ingest.parsers.normalise import one_line
from eagle_rag_core.ingest.tiles.alignment import Alignment
from eagle_rag_core.ingest.tiles.bar_charts import chart_around
from eagle_rag_core.ingest.tiles.captions import Caption, caption_kind, captioned, drawing_of
from eagle_rag_core.ingest.tiles.pdf_layout import PageLayout
from eagle_rag_core.ingest.tiles.regions import Region, is_inside, is_worth_showing, merged
from eagle_rag_core.types import WHOLE, Box, PageSpan, Section, TextSource, TileKind

_PARAGRAPHS = re.compile(r"\S(?:.|\n(?!\n))*")
#: A section goes on in another column when the next word stands so much higher, in page heights.
_COLUMN_BREAK: Final = 0.05
#: Captions of one page whose drawings are looked for.
_MAX_MISSING: Final = 20
#: Of the words that a section has on a page.
_MIN_WORDS: Final = 3
#: A section whose region covers so much of all that is written on the page shows nothing else.
_ALL_OF_IT: Final = 0.9


class PageRegions:
    """Finds the regions of a page.

    :param text: of the whole document.
    :param span: which part of it stands on the page; an empty one where there is none.
    :param sections: of the document, in reading order.
    :param source: where the page's words come from.
    :param drawn: tells where there is anything but text on the page; asked where a caption
        describes a figure that the layout does not know.
    """

    def __init__(
        self,
        text: str,
        span: PageSpan,
        layout: PageLayout,
        sections: Sequence[Section],
        source: TextSource,
        drawn: Callable[[], Sequence[Box]] = tuple,
    ) -> None:
        self._span = span
        self._text = text[span.start : span.end]
        self._layout = layout
        self._sections = sections
        self._drawn = drawn
        self._starts = [section.start for section in sections]
        self._source: TextSource = source if self._text else ""
        self._alignment = Alignment(self._text, layout.words)
        self._offsets = self._alignment.offsets()

    def all(self) -> list[Region]:
        """The page and its regions, from top to bottom by kind."""
        pictured = self._pictured()
        regions = [*pictured, *self._of_sections(pictured)]
        turns = self._layout.turns
        return [
            self.page(),
            *(replace(region, box=region.box.turned(turns)) for region in regions),
        ]

    def page(self) -> Region:
        """The page as a whole."""
        return Region(
            TileKind.PAGE,
            self._span.number,
            WHOLE,
            self._section_at(0),
            self._text,
            self._source,
        )

    def _pictured(self) -> list[Region]:
        """Tables and figures with their captions, those among them that only a caption tells of."""
        captions = list(self._captions())
        figures = [self._whole(box) for box in self._layout.figures]
        known = [*self._tables(), *self._figures(figures, captions)]
        known, left = captioned(known, captions)
        missing = [caption for caption in left if caption.kind is TileKind.FIGURE]
        if not missing:
            return known
        boxes = [
            self._whole(box)
            for each in missing[:_MAX_MISSING]
            if (box := drawing_of(each, self._drawings))
        ]
        found, _ = captioned(list(self._figures(boxes, captions)), missing)
        return known + [
            region
            for region in found
            if not any(is_inside(region.box, other.box) for other in known)
        ]

    def _whole(self, figure: Box) -> Box:
        """A figure, or the bar chart that it is one bar of."""
        return chart_around(figure, self._drawings)

    @cached_property
    def _drawings(self) -> Sequence[Box]:
        """Everything on the page that is no text, as the words of the layout stand."""
        return [box.turned(-self._layout.turns) for box in self._drawn()]

    def _tables(self) -> Iterator[Region]:
        texts = self._layout.tables
        for box in merged(box for box, _ in texts):
            text = max((text for inner, text in texts if is_inside(inner, box)), key=len)
            if is_worth_showing(box):
                yield self._region(TileKind.TABLE, box, text)

    def _figures(self, boxes: Iterable[Box], captions: Sequence[Caption]) -> Iterator[Region]:
        tables = [box for box, _ in self._layout.tables]
        for box in merged(boxes):
            if is_worth_showing(box) and not any(is_inside(box, table) for table in tables):
                yield self._region(TileKind.FIGURE, box, self._words_in(box, captions))

    def _of_sections(self, pictured: Sequence[Region]) -> Iterator[Region]:
        written = _around([word.box for word in self._layout.words])
        for section in self._sections_here():
            start = max(section.start, self._span.start) - self._span.start
            end = min(section.body_end, self._span.end) - self._span.start
            if start >= end:
                continue
            for words in self._columns(self._alignment.between(start, end)):
                box = _around([self._layout.words[word].box for word in words])
                if (
                    box is None
                    or len(words) < _MIN_WORDS
                    or not is_worth_showing(box)
                    or (written is not None and box.area >= _ALL_OF_IT * written.area)
                    or any(is_inside(box, region.box) for region in pictured)
                ):
                    continue
                text = self._text_of(words, start, end)
                yield Region(
                    TileKind.SECTION, self._span.number, box, section.ordinal, text, self._source
                )

    def _sections_here(self) -> Sequence[Section]:
        """The sections of which something stands on the page, without the document itself."""
        first = max(1, bisect_right(self._starts, self._span.start) - 1)
        return self._sections[first : bisect_left(self._starts, self._span.end)]

    def _columns(self, words: Sequence[int]) -> Iterator[list[int]]:
        """Words in text order, parted where the text goes on at the top of another column."""
        column: list[int] = []
        for word in words:
            if column:
                last, box = self._layout.words[column[-1]].box, self._layout.words[word].box
                if box.y1 < last.y0 - _COLUMN_BREAK:
                    yield column
                    column = []
            column.append(word)
        if column:
            yield column

    def _text_of(self, words: Sequence[int], start: int, end: int) -> str:
        """The part of a section's text that these words are, up to where the next column begins."""
        offsets = [self._offsets[word] for word in words]
        rest = self._alignment.between(max(offsets) + 1, end)
        following = [self._offsets[word] for word in rest if self._offsets[word] > max(offsets)]
        return self._text[max(start, min(offsets)) : min(following, default=end)].strip()

    def _captions(self) -> Iterator[Caption]:
        for match in _PARAGRAPHS.finditer(self._text):
            kind = caption_kind(match[0])
            if kind is None:
                continue
            words = self._alignment.between(*match.span())
            box = _around([self._layout.words[word].box for word in words])
            if box is not None:
                yield Caption(kind, match[0], box)

    def _region(self, kind: TileKind, box: Box, text: str) -> Region:
        source: TextSource = (self._source or "text") if text else ""
        section = self._section_of(box)
        return Region(kind, self._span.number, box, section, text, source)

    def _words_in(self, box: Box, captions: Sequence[Caption]) -> str:
        """The words inside a figure, without those of captions."""
        found = (
            word
            for word in self._layout.words
            if is_inside(word.box, box)
            and not any(is_inside(word.box, caption.box) for caption in captions)
        )
        return one_line(" ".join(word.text for word in found))

    def _section_of(self, box: Box) -> int:
        """The section a region stands in: that of the first word in it, else of the last one
        above it in its column, else of the page."""
        words = self._layout.words
        inside = [
            offset for word, offset in self._offsets.items() if is_inside(words[word].box, box)
        ]
        if inside:
            return self._section_at(min(inside))
        above = [
            (words[word].box.y1, offset)
            for word, offset in self._offsets.items()
            if words[word].box.y1 <= box.y0 + 0.01
            and min(words[word].box.x1, box.x1) > max(words[word].box.x0, box.x0)
        ]
        return self._section_at(max(above)[1] if above else 0)

    def _section_at(self, offset: int) -> int:
        position = bisect_right(self._starts, self._span.start + offset) - 1
        return self._sections[max(0, position)].ordinal


def _around(boxes: Sequence[Box]) -> Box | None:
    return reduce(Box.union, boxes) if boxes else None
