"""Puts a page in columns together anew: lines, paragraphs, and headings told by their font.

Used where the layout analysis fails: on columns of prose, which it joins into one paragraph each
or takes for a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from eagle_rag_core.ingest.parsers.pdf_blocks import (
    PdfBlock,
    has_doubtful_table,
    is_unreadable,
    join_lines,
    table_rows,
)
from eagle_rag_core.ingest.parsers.pdf_columns import (
    LARGER,
    Font,
    Piece,
    body_font,
    columns_of,
    is_in_columns,
    joined,
    rows_of,
)

if TYPE_CHECKING:
    from liteparse.types import ParsedPage

_CAPTION = re.compile(r"(?:fig(?:ure)?|table|example|listing|chart)\b|[\[(]?[표図图表]\s*\d", re.I)
_BULLET = re.compile(r"(?:[•◦▪‣●○■□–-]|\d{1,3}[.)]|[(（][0-9a-z]{1,3}[)）])\s")
_MAX_HEADING_LINES = 4
_MAX_HEADING_CHARS = 160


def needs_reflow(page: ParsedPage) -> bool:
    """Whether the blocks of the layout analysis cannot be trusted on this page."""
    return has_doubtful_table(page) or is_in_columns(page)


def reflow(page: ParsedPage) -> list[PdfBlock]:
    """The blocks of a page, column by column; tables with a header row as they were found."""
    blocks = blocks_of(columns_of(page), body_font(page.text_items), page.height or 1.0)
    return [block for block in blocks if block.kind == "table" or not is_unreadable(block.text)]


def blocks_of(columns: Iterable[Sequence[Piece]], body: Font, height: float) -> Iterator[PdfBlock]:
    """Paragraphs, headings and list items of columns, one after the other.

    :param height: of the page, in the unit of the pieces.
    """
    for column in columns:
        yield from _blocks([joined(row) for row in rows_of(column)], body, height)


def _blocks(lines: Sequence[Piece], body: Font, height: float) -> Iterator[PdfBlock]:
    pitch = median([lower.middle - upper.middle for upper, lower in pairwise(lines)] or [0.0])
    position = 0
    while position < len(lines):
        first = lines[position]
        top = first.top / height
        if first.table:
            yield PdfBlock("table", rows=table_rows(first.table), top=top)
            position += 1
        elif count := _heading_lines(lines, position, body):
            text = _paragraph(lines[position : position + count])
            yield PdfBlock("heading", text, size=first.size, top=top)
            position += count
        else:
            end = position + 1
            while end < len(lines) and not (
                _begins_block(lines[end - 1], lines[end], pitch) or _heading_lines(lines, end, body)
            ):
                end += 1
            text = _paragraph(lines[position:end])
            yield PdfBlock("item" if _BULLET.match(text) else "text", text, top=top)
            position = end


def _paragraph(lines: Sequence[Piece]) -> str:
    text = ""
    for line in lines:
        text = join_lines(text, line.text)
    return text


def _begins_block(upper: Piece, lower: Piece, pitch: float) -> bool:
    """Whether ``lower`` starts a new paragraph, list item or table."""
    return bool(
        lower.table
        or lower.middle - upper.middle > 1.4 * pitch
        or abs(lower.size - upper.size) > 0.15 * upper.size
        or (lower.left - upper.left > 0.6 * lower.size and not _BULLET.match(upper.text))
        or _BULLET.match(lower.text)
    )


def _heading_lines(lines: Sequence[Piece], position: int, body: Font) -> int:
    """How many lines from ``position`` on form a heading; 0 when none does.

    A heading is set larger than the body, or in bold or italics right above a line of the body.
    """
    first = lines[position]
    if not _could_be_heading(first, body):
        return 0
    end = position + 1
    while end < len(lines) and _same_style(first, lines[end]):
        end += 1
    text = _paragraph(lines[position:end])
    if (
        end - position > _MAX_HEADING_LINES
        or len(text) > _MAX_HEADING_CHARS
        or not any(character.isalpha() for character in text)
        or text[0].islower()
        or text.endswith((".", ",", ";", ":", "。"))
        or _CAPTION.match(text)
    ):
        return 0
    above_body = end < len(lines) and lines[end].font == body.name
    return end - position if first.size >= LARGER * body.size or above_body else 0


def _could_be_heading(line: Piece, body: Font) -> bool:
    emphasised = line.emphasis and line.font != body.name and line.size >= 0.95 * body.size
    return not line.table and (emphasised or line.size >= LARGER * body.size)


def _same_style(first: Piece, other: Piece) -> bool:
    return not other.table and other.font == first.font and abs(other.size - first.size) < 0.3
