"""Puts the lines that OCR found on a page into reading order, as paragraphs and headings.

The same analysis as for pages with text, from positions alone: OCR knows no fonts, and the height
of a line varies with its letters. So sizes are rounded before anything is concluded from them.
"""

from __future__ import annotations

from statistics import median

from eagle_rag_core.ingest.parsers.pdf_blocks import PdfBlock, close_cjk_gaps
from eagle_rag_core.ingest.parsers.pdf_columns import Font, Piece, columns_among, phrases_among
from eagle_rag_core.ingest.parsers.pdf_reflow import blocks_of
from eagle_rag_core.models.ocr import OcrLine, OcrPage
from eagle_rag_core.types.tiles import Box, ReadLine

#: Heights up to this share above or below the body's are taken for the body's.
_SAME_SIZE = 0.3
_STEP = 0.25
#: Font size by height of a line: the box of a line stands off from its letters.
_SIZE_BY_HEIGHT = 0.7


def blocks_from_ocr(page: OcrPage, scale: float = 1.0) -> list[PdfBlock]:
    """The blocks of a page that was read by OCR.

    :param scale: points of one pixel, so that sizes compare with those of other pages.
    """
    if not page.lines:
        return []
    body = median(_height(line) for line in page.lines for _ in line.text) * _SIZE_BY_HEIGHT
    pieces = phrases_among([_piece(line, body) for line in page.lines])
    columns = columns_among(pieces, body)
    return [_finished(block, scale) for block in blocks_of(columns, Font("", body), page.height)]


def lines_of(page: OcrPage, number: int) -> list[ReadLine]:
    """The lines of page ``number`` with their places on the page as it is displayed."""
    return [
        ReadLine(
            number,
            Box.of(
                line.left / page.width,
                line.top / page.height,
                line.right / page.width,
                line.bottom / page.height,
            ).turned(page.turns),
            line.text,
            page.turns % 4,
        )
        for line in page.lines
        if line.text
    ]


def _piece(line: OcrLine, body: float) -> Piece:
    ratio = _height(line) * _SIZE_BY_HEIGHT / body
    rounded = 1.0 if abs(ratio - 1) <= _SAME_SIZE else max(_STEP, round(ratio / _STEP) * _STEP)
    return Piece(line.left, line.top, line.right, line.bottom, line.text, size=rounded * body)


def _height(line: OcrLine) -> float:
    """Height of the letters; for a line that runs down the page, its width."""
    return max(1.0, min(line.bottom - line.top, line.right - line.left))


def _finished(block: PdfBlock, scale: float) -> PdfBlock:
    return PdfBlock(
        block.kind,
        close_cjk_gaps(block.text),
        level=block.level,
        size=block.size * scale,
        top=block.top,
    )
