"""PDF by liteparse (PDFium): typed blocks with heading levels, in reading order, page by page.

OCR is off: a scanned document is reported, never indexed as if it were empty.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Sequence
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
from eagle_rag_core.ingest.parsers.pdf_reflow import needs_reflow, reflow
from eagle_rag_core.types.documents import ParsedDocument

if TYPE_CHECKING:
    from liteparse import LiteParse, ParseResult

logger = logging.getLogger(__name__)

_SIGNATURE = b"%PDF-"
#: Readers accept the signature anywhere in the first kilobyte (PDF 1.7, annex H.3.4.1).
_SIGNATURE_WITHIN = 1024
_MAX_PAGES = 20_000
#: Share of the page height in which running heads and page numbers stand.
_MARGIN = 0.12
#: Letters and digits a page of text has at least; below, the document may be a scan.
_SPARSE = 30
#: Pages drawn to tell a scan from a blank document.
_DRAWN_PAGES = 20
_PAGE_NUMBER = re.compile(r"[\divxlcIVXLC.\-–/ ]{1,9}")

_Pages = list[tuple[int, list[PdfBlock]]]


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
        pages = _without_running_heads(pages)
        builder = DocumentBuilder()
        levels = _heading_levels([block for _, blocks in pages for block in blocks])
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
        extract_blocks=True,
        extract_text_metadata=True,
        extract_document_metadata=True,
        extract_links=False,
        image_mode="off",
    )


def _open(data: bytes, name: str) -> ParseResult:
    from liteparse import ParseError

    try:
        result = _liteparse().parse(data)
    except ParseError as error:
        logger.info("a PDF cannot be opened: %s", error)
        raise parse_failed(name, _reason(str(error), data)) from error
    if result.total_pages > _MAX_PAGES:
        raise parse_failed(name, f"has more than {_MAX_PAGES:,} pages; split it.")
    if not result.pages:
        raise parse_failed(name, "is damaged: none of its pages can be read.")
    return result


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
    stats = _liteparse().is_complex(data)
    counted = "1 page" if len(stats) == 1 else f"{len(stats)} pages"
    pictured = sum(page.full_page_image or page.image_block_count > 0 for page in stats)
    garbled = any(page.is_garbled for page in stats)
    if pictured * 2 > len(stats) or garbled or (not has_words(text) and _shows_anything(data)):
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


def _page_counts(result: ParseResult, pages: _Pages) -> dict[str, str]:
    """How many pages there are, and which of them are missing from the text."""
    counts = {
        "pages": str(result.total_pages),
        "pages_without_text": ", ".join(str(number) for number, blocks in pages if not blocks),
        "pages_unreadable": ", ".join(str(error.page_num) for error in result.page_errors),
    }
    return {key: value for key, value in counts.items() if value}


def _without_running_heads(pages: _Pages) -> _Pages:
    """Leave out page numbers and what stands in the margin of three pages or more."""
    seen = Counter(
        key
        for _, blocks in pages
        for key in {_margin_key(block) for block in blocks if _in_margin(block)}
    )
    return [
        (number, [block for block in blocks if not _is_running_head(block, seen)])
        for number, blocks in pages
    ]


def _is_running_head(block: PdfBlock, seen: Counter[str]) -> bool:
    if not _in_margin(block):
        return False
    return bool(_PAGE_NUMBER.fullmatch(block.text)) or seen[_margin_key(block)] >= 3


def _in_margin(block: PdfBlock) -> bool:
    return block.kind == "text" and not _MARGIN < block.top < 1 - _MARGIN


def _margin_key(block: PdfBlock) -> str:
    return "".join(character for character in block.text if character.isalpha())


def _heading_levels(blocks: Sequence[PdfBlock]) -> dict[tuple[int, float], int]:
    """Map (level, size) of every heading to its level in the document, 1 for the topmost.

    liteparse has six levels and puts every smaller heading on the last one; inside a level the
    font size still tells a section from a subsection. Headings found by reflowing a page have
    no level yet and take that of the nearest size.
    """
    headings = [block for block in blocks if block.kind == "heading"]
    known = sorted({(block.size, block.level) for block in headings if block.level})
    ranked = {_rank(block, known) for block in headings}
    order = {rank: position for position, rank in enumerate(sorted(ranked), start=1)}
    return {(block.level, block.size): order[_rank(block, known)] for block in headings}


def _rank(block: PdfBlock, known: Sequence[tuple[float, int]]) -> tuple[int, float]:
    level = block.level
    if not level:
        near = [(abs(size - block.size), found) for size, found in known]
        larger = [found for size, found in known if size > block.size]
        distance, nearest = min(near, default=(0.0, 1))
        level = nearest if distance < 0.06 * block.size else max(larger, default=0) + 1
    return level, -float(round(block.size))


def _add(builder: DocumentBuilder, block: PdfBlock, levels: dict[tuple[int, float], int]) -> None:
    if block.kind == "heading":
        builder.heading(block.text, levels[block.level, block.size])
    elif block.kind == "item":
        builder.item(block.text)
    elif block.kind == "table":
        builder.table(block.rows)
    else:
        builder.block(block.text.strip())


def _first_title(pages: _Pages) -> str:
    """The topmost heading of the first page with text."""
    first = next((blocks for _, blocks in pages if blocks), [])
    headings = [block for block in first if block.kind == "heading"]
    return min(headings, key=lambda block: block.level or 9).text if headings else ""
