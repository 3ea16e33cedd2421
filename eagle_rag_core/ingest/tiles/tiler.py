"""From a parsed document and its original to its tiles."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from eagle_rag_core.catalog import ids
from eagle_rag_core.ingest.tiles.drawing import PDF, Original
from eagle_rag_core.ingest.tiles.flow import Picture, Text, regions_of_flow
from eagle_rag_core.ingest.tiles.flows import book_flow, web_flow, word_flow
from eagle_rag_core.ingest.tiles.page_regions import PageRegions
from eagle_rag_core.ingest.tiles.pdf_layout import PageLayout, read_layouts
from eagle_rag_core.ingest.tiles.pdf_pages import PdfPages
from eagle_rag_core.ingest.tiles.placing import with_tables
from eagle_rag_core.ingest.tiles.reading import ReadingLimits, read_regions
from eagle_rag_core.ingest.tiles.regions import Region, bounded, without_logos
from eagle_rag_core.ingest.tiles.slides import slide_regions
from eagle_rag_core.ingest.tiles.words import Word, words_of_lines
from eagle_rag_core.types import (
    Box,
    PageSpan,
    ParsedDocument,
    ReadLine,
    Section,
    TextSource,
    Tile,
    TileKind,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL.Image import Image

    from eagle_rag_core.models.ocr import OcrEngine

logger = logging.getLogger(__name__)

#: Changes when the tiles of the same document do.
_VERSION: Final = "2"
_PPTX: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_FLOWS: Final[dict[str, Callable[[bytes], Iterator[Text | Picture]]]] = {
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": word_flow,
    "text/html": web_flow,
    "application/epub+zip": book_flow,
}
#: Pixels of a page's width for OCR: 150 dots per inch on letter paper.
_OCR_WIDTH: Final = 1275


class Tiler:
    """Makes the tiles of documents.

    :param ocr: reads figures and pictures without text; None when there is no engine.
    """

    def __init__(self, ocr: OcrEngine | None = None, limits: ReadingLimits | None = None) -> None:
        self._ocr = ocr
        self._limits = limits or ReadingLimits()

    def fingerprint(self) -> str:
        """Identity of all that decides what tiles a document has."""
        return f"tiles-{_VERSION}+{self._ocr.fingerprint if self._ocr else 'no-ocr'}"

    def tiles_of(
        self,
        parsed: ParsedDocument,
        data: bytes,
        sections: Sequence[Section],
        version_id: str,
        rendition: bytes = b"",
    ) -> tuple[Tile, ...]:
        """The tiles of a document in its order; none where its format shows nothing.

        A document is found without its tiles too, so what is wrong with them is logged.

        :param data: the original that ``parsed`` was made of.
        :param rendition: the PDF that shows its pages where it has none itself.
        :raises ModelError: the OCR engine is damaged.
        """
        try:
            regions = bounded(without_logos(_regions(parsed, data, sections, rendition)))
        except Exception:  # libraries raise anything on what they read first in another way
            logger.warning("the tiles of a document cannot be made", exc_info=True)
            return ()
        return tuple(
            _tile(ordinal, region, sections, version_id)
            for ordinal, region in enumerate(self._read(regions, parsed, data, rendition))
        )

    def _read(
        self, regions: Sequence[Region], parsed: ParsedDocument, data: bytes, rendition: bytes
    ) -> Sequence[Region]:
        if self._ocr is None or not regions:
            return regions
        try:
            with Original(data, parsed.media_type, rendition) as original:

                def draw(region: Region) -> Image:
                    return original.draw(region.page, _OCR_WIDTH, part=region.part, box=region.box)

                return read_regions(regions, draw, self._ocr, self._limits)
        except ValueError as error:
            logger.info("the regions of a document cannot be drawn: %s", error)
            return regions


def page_spans(parsed: ParsedDocument) -> tuple[PageSpan, ...]:
    """Which part of a document's text stands on which page; a single picture is one."""
    if not parsed.pages and parsed.media_type.startswith("image/"):
        return (PageSpan(1, 0, len(parsed.text)),)
    return parsed.pages


def _regions(
    parsed: ParsedDocument, data: bytes, sections: Sequence[Section], rendition: bytes
) -> list[Region]:
    if parsed.media_type == PDF:
        return list(_pdf_regions(parsed, data, sections))
    if parsed.media_type.startswith("image/"):
        return list(_picture_regions(parsed, sections))
    if parsed.media_type == _PPTX:
        return slide_regions(data, parsed, sections)
    flow = _FLOWS.get(parsed.media_type)
    regions = regions_of_flow(flow(data), parsed, sections) if flow else []
    if not rendition:
        return regions
    shown = list(_pdf_regions(parsed, rendition, sections, of_text=True))
    return [*shown, *_described(regions, shown)]


def _described(regions: Sequence[Region], shown: Sequence[Region]) -> Iterator[Region]:
    """The pictures with a description that is not the caption of what the pages show: the pages
    show the pictures, but not what the document says of them."""
    captions = {region.caption for region in shown}
    for region in regions:
        if region.kind is TileKind.IMAGE and region.caption and region.caption not in captions:
            yield region


def _pdf_regions(
    parsed: ParsedDocument, data: bytes, sections: Sequence[Section], *, of_text: bool = False
) -> Iterator[Region]:
    """The regions of a PDF.

    :param of_text: its tables are those that the text has.
    """
    spans = _Spans(parsed)
    read = _words_by_page(parsed.lines)
    with PdfPages(data) as pages:
        for layout in read_layouts(data):
            number = layout.number
            words = read.get(number)
            if words is not None:  # what a garbled font says is not what is read there
                layout = layout.read_by_ocr(words)

            def drawn(number: int = number) -> Sequence[Box]:
                return pages.drawn(number)

            source: TextSource = "text" if words is None else "ocr"
            span = spans.of(number)
            if of_text:
                layout = with_tables(layout, parsed.text, span)
            yield from PageRegions(parsed.text, span, layout, sections, source, drawn).all()


def _picture_regions(parsed: ParsedDocument, sections: Sequence[Section]) -> Iterator[Region]:
    """The frames of a picture, and the sections that OCR found on them."""
    spans = _Spans(parsed)
    read = _words_by_page(parsed.lines)
    several = "pages" in parsed.metadata
    for number in range(1, int(parsed.metadata.get("pages", "1")) + 1):
        layout = PageLayout(number).read_by_ocr(read.get(number, []))
        page, *regions = PageRegions(parsed.text, spans.of(number), layout, sections, "ocr").all()
        yield page if several else replace(page, kind=TileKind.IMAGE)
        yield from regions


def _words_by_page(lines: Sequence[ReadLine]) -> dict[int, list[Word]]:
    by_page: dict[int, list[ReadLine]] = {}
    for line in lines:
        by_page.setdefault(line.page, []).append(line)
    return {page: words_of_lines(found) for page, found in by_page.items()}


class _Spans:
    """Which part of a document's text stands on a page."""

    def __init__(self, parsed: ParsedDocument) -> None:
        self._spans = {span.number: span for span in page_spans(parsed)}
        self._end = 0

    def of(self, number: int) -> PageSpan:
        """The span of a page; asked in their order, a page without text follows the one before."""
        span = self._spans.get(number, PageSpan(number, self._end, self._end))
        self._end = max(0, span.end - 1) if span.end > span.start else span.end
        return span


def _tile(ordinal: int, region: Region, sections: Sequence[Section], version_id: str) -> Tile:
    image_id = ids.image_id(version_id, region.kind, region.page, str(region.box), region.part)
    source: TextSource = region.text_source
    if not region.text:
        source = "caption" if region.caption else ""
    return Tile(
        image_id=image_id,
        ordinal=ordinal,
        kind=region.kind,
        page=region.page,
        box=region.box,
        section=region.section,
        path=sections[region.section].path,
        text=region.text,
        text_source=source,
        caption=region.caption,
        part=region.part,
    )
