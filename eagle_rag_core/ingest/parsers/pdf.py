"""PDF by liteparse (PDFium): typed blocks with heading levels, in reading order, page by page.

OCR is off: a scanned document is reported, never indexed as if it were empty.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.failures import (
    empty_document,
    needs_ocr,
    parse_failed,
    refuse_empty,
)
from eagle_rag_core.ingest.parsers.normalise import has_words
from eagle_rag_core.ingest.parsers.pdf_blocks import PdfBlock, read_blocks
from eagle_rag_core.ingest.parsers.pdf_metadata import read_metadata
from eagle_rag_core.ingest.parsers.pdf_outline import (
    Pages,
    heading_levels,
    without_running_heads,
)
from eagle_rag_core.ingest.parsers.pdf_reflow import needs_reflow, reflow
from eagle_rag_core.types.documents import ParsedDocument

if TYPE_CHECKING:
    from liteparse import LiteParse, ParseResult

logger = logging.getLogger(__name__)

_SIGNATURE = b"%PDF-"
#: Readers accept the signature anywhere in the first kilobyte (PDF 1.7, annex H.3.4.1).
_SIGNATURE_WITHIN = 1024
#: A page takes about a quarter of a megabyte while it is parsed.
_MAX_PAGES = 5_000
#: Letters and digits a page of text has at least; below, the document may be a scan.
_SPARSE = 30
#: Pages drawn to tell a scan from a blank document.
_DRAWN_PAGES = 20


class PdfParser:
    """Reads PDF with a text layer."""

    name = "pdf"
    version = "1"

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
        result = _open(data, name)
        pages = [
            (page.page_num, reflow(page) if needs_reflow(page) else read_blocks(page))
            for page in result.pages
        ]
        pages = without_running_heads(pages)
        builder = DocumentBuilder()
        levels = heading_levels([block for _, blocks in pages for block in blocks])
        for number, blocks in pages:
            builder.page(number)
            for block in blocks:
                _add(builder, block, levels)
        if _letters(builder.text()) < _SPARSE * len(pages):
            _refuse_scan(data, name, builder.text())
        declared = read_metadata(result.doc_meta)
        return builder.build(
            "application/pdf",
            title=declared.title or _first_title(pages),
            language=declared.language,
            keywords=declared.keywords,
            metadata={**declared.metadata, **_page_counts(result, pages)},
        )


def _liteparse() -> LiteParse:
    from liteparse import LiteParse

    return LiteParse(
        ocr_enabled=False,
        quiet=True,
        max_pages=_MAX_PAGES,
        continue_on_page_error=True,
        # It would strip "Chapter 1", "Chapter 2" from the tops of pages for running heads.
        keep_headers_footers=True,
        extract_blocks=True,
        extract_text_metadata=True,
        extract_document_metadata=True,
        extract_links=False,
        image_mode="off",
    )


def _open(data: bytes, name: str) -> ParseResult:
    with _failures_named(data, name):
        result = _liteparse().parse(data)
    if result.total_pages > _MAX_PAGES:
        raise parse_failed(name, f"has more than {_MAX_PAGES:,} pages; split it.")
    if not result.pages:
        raise parse_failed(name, "is damaged: none of its pages can be read.")
    return result


@contextmanager
def _failures_named(data: bytes, name: str) -> Iterator[None]:
    """Turn the errors of the library into ours."""
    from liteparse import ParseError

    try:
        yield
    except ParseError as error:
        logger.info("a PDF cannot be read: %s", error)
        raise parse_failed(name, _reason(str(error), data)) from error


def _reason(error: str, data: bytes) -> str:
    if "password" in error.lower():
        return "is protected by a password; save a copy without one and ingest that."
    if b"%%EOF" not in data[-2048:]:
        return "is cut off: the end of the PDF is missing. Fetch or copy the file again."
    return "is a damaged PDF or has no pages; open and save it anew in a PDF program."


def _refuse_scan(data: bytes, name: str, text: str) -> None:
    """Raise when next to all text is missing, for a scan and for blank pages alike.

    A scan may still carry a stamp or page numbers as text.
    """
    with _failures_named(data, name):
        stats = _liteparse().is_complex(data)
        visible = has_words(text) or _shows_anything(data)
    counted = "1 page" if len(stats) == 1 else f"{len(stats)} pages"
    pictured = sum(page.full_page_image or page.image_block_count > 0 for page in stats)
    garbled = any(page.is_garbled for page in stats)
    if pictured * 2 > len(stats) or garbled or (visible and not has_words(text)):
        raise needs_ocr(
            name,
            f"has {counted} and hardly any text in them (scanned images or unreadable fonts); "
            "run OCR on it first.",
        )
    if not has_words(text):
        raise empty_document(name, f"has {counted}, all blank.")


def _shows_anything(data: bytes) -> bool:
    """Whether a page is not blank when drawn; images nested in forms are found only this way."""
    from liteparse import LiteParse

    painter = LiteParse(
        ocr_enabled=False,
        quiet=True,
        extract_screenshots=True,
        continue_on_page_error=True,
        dpi=36,
        target_pages=f"1-{_DRAWN_PAGES}",
    )
    return any(not page.is_solid_fill for page in painter.parse(data).screenshots)


def _letters(text: str) -> int:
    return sum(character.isalnum() for character in text)


def _page_counts(result: ParseResult, pages: Pages) -> dict[str, str]:
    """How many pages there are, and which of them are missing from the text."""
    counts = {
        "pages": str(result.total_pages),
        "pages_without_text": ", ".join(str(number) for number, blocks in pages if not blocks),
        "pages_unreadable": ", ".join(str(error.page_num) for error in result.page_errors),
    }
    return {key: value for key, value in counts.items() if value}


def _add(builder: DocumentBuilder, block: PdfBlock, levels: dict[tuple[int, float], int]) -> None:
    if block.kind == "heading":
        builder.heading(block.text, levels[block.level, block.size])
    elif block.kind == "item":
        builder.item(block.text)
    elif block.kind == "table":
        builder.table(block.rows)
    else:
        builder.block(block.text.strip())


def _first_title(pages: Pages) -> str:
    """The topmost heading of the first page with text."""
    first = next((blocks for _, blocks in pages if blocks), [])
    headings = [block for block in first if block.kind == "heading"]
    return min(headings, key=lambda block: block.level or 9).text if headings else ""
