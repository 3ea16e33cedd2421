"""Where words, tables and figures stand on the pages of a PDF, by liteparse (PDFium).

Its coordinates are those of the page as displayed: turned as /Rotate says and cut to the CropBox.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.ingest.parsers.pdf_blocks import has_doubtful_table, table_rows
from eagle_rag_core.ingest.parsers.pdf_opening import turn_of
from eagle_rag_core.ingest.parsers.tables import table_text
from eagle_rag_core.ingest.tiles.words import MAX_WORDS, Word, needs_splitting, split_line
from eagle_rag_core.types import Box

if TYPE_CHECKING:
    from liteparse import LiteParse
    from liteparse.types import AnnotationRect, ParsedPage, TextItem, WordBox

logger = logging.getLogger(__name__)

#: Pages that are held at once; each takes about a quarter of a megabyte.
_BATCH: Final = 16
_QUARTER: Final = 90


@dataclass(frozen=True, slots=True)
class PageLayout:
    """What stands where on a page, turned so that its text runs from left to right.

    :param words: in the order of the page's content, mostly that of reading.
    :param tables: each with its text.
    :param figures: pictures and drawings.
    :param turns: quarters of a circle, clockwise, from here to the page as it is displayed.
    """

    number: int
    words: list[Word] = field(default_factory=list)
    tables: list[tuple[Box, str]] = field(default_factory=list)
    figures: list[Box] = field(default_factory=list)
    turns: int = 0

    def displayed_words(self) -> list[Word]:
        """The words where they stand on the page as it is displayed."""
        return [Word(word.text, word.box.turned(self.turns), self.turns) for word in self.words]

    def read_by_ocr(self, words: Sequence[Word]) -> PageLayout:
        """The layout with what OCR read in place of what a garbled font or nothing says.

        :param words: where they stand on the page as it is displayed.
        """
        turns = words[0].turns if words else 0
        return PageLayout(
            self.number,
            [Word(word.text, word.box.turned(-turns)) for word in words],
            figures=[box.turned(self.turns - turns) for box in self.figures],
            turns=turns,
        )


def read_layouts(data: bytes) -> Iterator[PageLayout]:
    """The layout of every page that can be read, in order; a few pages are held at once.

    :param data: a PDF that its parser has read already; one that is damaged has no pages here.
    """
    from liteparse import ParseError

    try:
        for batch in _liteparse().parse_batches(data, _BATCH):
            yield from _layouts(data, batch.result.pages)
    except ParseError as error:
        logger.info("the layout of a PDF cannot be read: %s", error)


def read_layout(data: bytes, number: int) -> PageLayout:
    """The layout of page ``number`` (1-based); an empty one when it cannot be read."""
    from liteparse import ParseError

    try:
        pages = _liteparse(target_pages=str(number)).parse(data).pages
    except ParseError as error:
        logger.info("the layout of a page cannot be read: %s", error)
        pages = []
    return next(_layouts(data, pages), PageLayout(number))


def _liteparse(**options: Any) -> LiteParse:
    from liteparse import LiteParse

    return LiteParse(
        ocr_enabled=False,
        quiet=True,
        continue_on_page_error=True,
        keep_headers_footers=True,
        extract_blocks=True,
        emit_word_boxes=True,
        extract_links=False,
        image_mode="placeholder",  # with "off" there are no figures
        **options,
    )


def _layouts(data: bytes, pages: list[ParsedPage]) -> Iterator[PageLayout]:
    """Pages whose text is turned are read once more, upright, and their places turned back."""
    turns = {page.page_num: turn for page in pages if (turn := turn_of(page))}
    upright: dict[int, ParsedPage] = {}
    if turns:
        again = _liteparse(
            target_pages=",".join(map(str, turns)),
            page_orientation_corrections=list(turns.items()),
        ).parse(data)
        upright = {page.page_num: page for page in again.pages}
    for page in pages:
        number = page.page_num
        turned = number in upright
        yield _Placing(
            upright.get(number, page), turns[number] // _QUARTER if turned else 0
        ).layout()


class _Placing:
    """Turns the coordinates of a page into shares of it.

    :param quarters: clockwise, from the page as it was read to the page as displayed.
    """

    def __init__(self, page: ParsedPage, quarters: int) -> None:
        self._page = page
        self._quarters = quarters
        self._width, self._height = max(page.width, 1.0), max(page.height, 1.0)

    def layout(self) -> PageLayout:
        layout = PageLayout(
            self._page.page_num, words=list(islice(self._words(), MAX_WORDS)), turns=self._quarters
        )
        doubtful = has_doubtful_table(self._page)
        for block in self._page.blocks or ():
            if block.bbox is None or not self._is_visible(block.bbox):
                continue
            if block.kind == "figure":
                layout.figures.append(self._box(block.bbox))
            elif block.kind == "table" and (block.header or not doubtful):
                rows = table_rows(block)
                if max(map(len, rows), default=0) > 1:  # a single column is a frame around text
                    text = table_text(rows, header=bool(block.header))
                    layout.tables.append((self._box(block.bbox), text))
        return layout

    def _words(self) -> Iterator[Word]:
        for item in self._page.text_items:
            for word in item.words or (item,):
                if not word.text.strip() or not self._is_visible(word):
                    continue
                if needs_splitting(word.text):
                    yield from split_line(word.text, self._box(word))
                else:
                    yield Word(word.text, self._box(word))

    def _box(self, rect: AnnotationRect | WordBox | TextItem) -> Box:
        return Box.of(
            rect.x / self._width,
            rect.y / self._height,
            (rect.x + rect.width) / self._width,
            (rect.y + rect.height) / self._height,
        )

    def _is_visible(self, rect: AnnotationRect | WordBox | TextItem) -> bool:
        """Whether any of it lies on the page; what is cropped away does not."""
        return bool(
            rect.x < self._width
            and rect.y < self._height
            and rect.x + rect.width > 0
            and rect.y + rect.height > 0
        )
