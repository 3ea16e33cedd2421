"""Writes pages of blocks into a document, with the headings of all pages in one hierarchy."""

from __future__ import annotations

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.pdf_blocks import PdfBlock
from eagle_rag_core.ingest.parsers.pdf_outline import Pages, heading_levels


def write_pages(builder: DocumentBuilder, pages: Pages, *, numbered: bool = True) -> None:
    """Write the blocks of pages in order.

    :param numbered: keep which page they stand on.
    """
    levels = heading_levels([block for _, blocks in pages for block in blocks])
    for number, blocks in pages:
        if numbered:
            builder.page(number)
        for block in blocks:
            _write(builder, block, levels)


def _write(builder: DocumentBuilder, block: PdfBlock, levels: dict[tuple[int, float], int]) -> None:
    if block.kind == "heading":
        builder.heading(block.text, levels[block.level, block.size])
    elif block.kind == "item":
        builder.item(block.text)
    elif block.kind == "table":
        builder.table(block.rows)
    else:
        builder.block(block.text.strip())
