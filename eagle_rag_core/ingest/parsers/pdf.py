"""PDF by liteparse (PDFium): typed blocks with heading levels, in reading order, page by page.

Pages that are pictures of text are read by OCR where there is an engine. Without one they are
named in the metadata, and a document of nothing else is refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.failures import (
    empty_document,
    illegible,
    no_ocr,
    parse_failed,
    refuse_empty,
)
from eagle_rag_core.ingest.parsers.normalise import has_words
from eagle_rag_core.ingest.parsers.page_numbers import counted, page_ranges
from eagle_rag_core.ingest.parsers.page_writer import write_pages
from eagle_rag_core.ingest.parsers.pdf_blocks import read_blocks
from eagle_rag_core.ingest.parsers.pdf_metadata import read_metadata
from eagle_rag_core.ingest.parsers.pdf_opening import open_pdf
from eagle_rag_core.ingest.parsers.pdf_outline import Pages, without_labels, without_running_heads
from eagle_rag_core.ingest.parsers.pdf_reflow import needs_reflow, reflow
from eagle_rag_core.ingest.parsers.pdf_scans import Scans, letters, read_scans
from eagle_rag_core.types.documents import ParsedDocument

if TYPE_CHECKING:
    from liteparse import ParseResult

    from eagle_rag_core.models.ocr import OcrEngine

_SIGNATURE = b"%PDF-"
#: Readers accept the signature anywhere in the first kilobyte (PDF 1.7, annex H.3.4.1).
_SIGNATURE_WITHIN = 1024
_VERSION = "3"


class PdfParser:
    """Reads PDF.

    :param ocr: reads pages that are pictures; None when there is no engine.
    :param max_pages: of one document; each takes about a quarter of a megabyte until the last
        one is parsed.
    """

    name = "pdf"

    def __init__(self, ocr: OcrEngine | None = None, max_pages: int = 2_000) -> None:
        self.version = f"{_VERSION}+{ocr.fingerprint}" if ocr else _VERSION
        self._ocr = ocr
        self._max_pages = max_pages

    def sniff(self, head: bytes, name: str) -> float:
        if _SIGNATURE in head[:_SIGNATURE_WITHIN]:
            return 1.0
        return 0.2 if name.lower().endswith(".pdf") else 0.0

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        start = data.find(_SIGNATURE, 0, _SIGNATURE_WITHIN + len(_SIGNATURE))
        if start < 0:
            raise parse_failed(name, "is not a PDF file, whatever its name says.")
        data = data[start:]
        result = open_pdf(data, name, self._max_pages)
        pages = [
            (page.page_num, reflow(page) if needs_reflow(page) else read_blocks(page))
            for page in result.pages
        ]
        pages, scans = read_scans(data, result.pages, pages, self._ocr)
        pages = without_labels(without_running_heads(pages))
        self._refuse_unread(name, pages, scans)
        builder = DocumentBuilder()
        write_pages(builder, pages)
        if not has_words(builder.text()):
            raise empty_document(name, f"has {counted(pages, 'page')} without a word on them.")
        declared = read_metadata(result.doc_meta)
        document = builder.build(
            "application/pdf",
            title=declared.title or _first_title(pages),
            language=declared.language,
            keywords=declared.keywords,
            metadata={**declared.metadata, **_page_counts(result, pages, scans)},
        )
        return replace(document, lines=tuple(scans.lines))

    def _refuse_unread(self, name: str, pages: Pages, scans: Scans) -> None:
        """Raise when no page was read; a stamp or a page number on a scan does not count.

        :raises IngestError: with the reason.
        """
        if any(letters(blocks) for number, blocks in pages if number not in scans.unread):
            return
        what = f"has {counted(pages, 'page')}"
        if scans.illegible:
            raise illegible(name, what)
        if scans.unread:
            what += " and hardly any text in them (scanned images or unreadable fonts)."
            raise no_ocr(name, what)
        if scans.pictures:
            raise empty_document(name, f"{what}, which show pictures without text.")
        raise empty_document(name, f"{what}, all blank or with pictures that cannot be decoded.")


def _page_counts(result: ParseResult, pages: Pages, scans: Scans) -> dict[str, str]:
    """How many pages there are, and which of them are missing from the text."""
    empty = [number for number, blocks in pages if not blocks and number not in scans.unread]
    counts = {
        "pages": str(result.total_pages),
        "pages_without_text": page_ranges(empty),
        "pages_unreadable": page_ranges(error.page_num for error in result.page_errors),
        "pages_by_ocr": page_ranges(scans.read),
        "pages_need_ocr": page_ranges(scans.unread),
    }
    return {key: value for key, value in counts.items() if value}


def _first_title(pages: Pages) -> str:
    """The topmost heading of the first page with text."""
    first = next((blocks for _, blocks in pages if blocks), [])
    headings = [block for block in first if block.kind == "heading"]
    return min(headings, key=lambda block: block.level or 9).text if headings else ""
