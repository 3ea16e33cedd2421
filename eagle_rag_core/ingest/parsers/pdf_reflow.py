"""Rebuilds the reading order of a page from the positions of its text.

Used for pages on which the layout analysis took columns of prose for a table. The page is cut
at vertical gutters into columns, lines are put together inside each column, and headings are
told by their font.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import TYPE_CHECKING

from eagle_rag_core.ingest.parsers.pdf_blocks import (
    PdfBlock,
    body_font,
    is_unreadable,
    join_lines,
    table_rows,
)

if TYPE_CHECKING:
    from liteparse.types import AnnotationRect, LayoutBlock, ParsedPage, TextItem

_BOLD = re.compile(r"bold|black|heavy|demi|medium|cmbx", re.I)
_ITALIC = re.compile(r"ital|obliq|cmti", re.I)
_BOLD_WEIGHT = 540
_CAPTION = re.compile(r"(?:fig(?:ure)?|table|example|listing|chart)\b|[\[(]?[표図图表]\s*\d", re.I)
_BULLET = re.compile(r"(?:[•◦▪‣●○■□–-]|\d{1,3}[.)]|[(（][0-9a-z]{1,3}[)）])\s")
_MAX_HEADING_LINES = 4
_MAX_HEADING_CHARS = 160
#: A heading's font is at least this much larger than the body's, or bold or italic.
_LARGER = 1.07


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of text on one line, or a whole table."""

    left: float
    top: float
    right: float
    bottom: float
    text: str = ""
    font: str = ""
    size: float = 0.0
    emphasis: bool = False
    table: LayoutBlock | None = None

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def reflow(page: ParsedPage) -> list[PdfBlock]:
    """The blocks of a page in columns; tables with a header row are kept as they were found."""
    tables = [block for block in page.blocks or () if block.kind == "table" and block.header]
    pieces = [_table_piece(table.bbox, table) for table in tables if table.bbox is not None]
    for item in page.text_items:
        if item.text.strip() and not any(_inside(item, table) for table in pieces if table.table):
            pieces.append(_text_piece(item))
    body = body_font(page.text_items)
    height = page.height or 1.0
    return [
        block
        for column in _columns(_phrases(pieces))
        for block in _blocks(_lines(column), body, height)
        if block.kind == "table" or not is_unreadable(block.text)
    ]


def _text_piece(item: TextItem) -> _Piece:
    font = item.font_name or ""
    emphasis = (item.font_weight or 0) >= _BOLD_WEIGHT or bool(
        _BOLD.search(font) or _ITALIC.search(font)
    )
    return _Piece(
        left=item.x,
        top=item.y,
        right=item.x + item.width,
        bottom=item.y + item.height,
        text=item.text.strip(),
        font=font,
        size=item.font_height or item.height,
        emphasis=emphasis,
    )


def _table_piece(box: AnnotationRect, table: LayoutBlock) -> _Piece:
    return _Piece(box.x, box.y, box.x + box.width, box.y + box.height, table=table)


def _inside(item: TextItem, box: _Piece) -> bool:
    x, y = item.x + item.width / 2, item.y + item.height / 2
    return box.left <= x <= box.right and box.top <= y <= box.bottom


def _columns(pieces: Sequence[_Piece]) -> Iterator[Sequence[_Piece]]:
    """Cut at the best gutter, again and again; what crosses it parts the page into bands."""
    gutter = _gutter(pieces)
    if gutter is None:
        yield pieces
        return

    def side(piece: _Piece) -> int:
        return -1 if piece.right <= gutter else 1 if piece.left >= gutter else 0

    by_height = sorted(pieces, key=lambda piece: piece.middle)
    for across, band in groupby(by_height, key=lambda piece: side(piece) == 0):
        members = list(band)
        if across:
            yield members
            continue
        for which in (-1, 1):
            if column := [piece for piece in members if side(piece) == which]:
                yield from _columns(column)


def _gutter(pieces: Sequence[_Piece]) -> float | None:
    """The position that parts the most pieces while crossing next to none.

    ``None`` unless a fifth of the pieces stands on each side, side by side.
    """
    if len(pieces) < 8:
        return None
    rights = sorted(piece.right for piece in pieces)
    lefts = sorted(piece.left for piece in pieces)
    total = len(pieces)
    best, best_score = None, 0.0
    for position in range(int(lefts[0]) + 1, int(rights[-1])):
        before = _count_up_to(rights, position)
        after = total - _count_up_to(lefts, position - 0.01)
        crossing = total - before - after
        score = min(before, after) - 2.0 * crossing
        if min(before, after) * 5 >= total and crossing * 5 <= total and score > best_score:
            best, best_score = float(position), score
    return best if best is not None and _side_by_side(pieces, best) else None


def _count_up_to(ordered: Sequence[float], value: float) -> int:
    return bisect_right(ordered, value)


def _side_by_side(pieces: Sequence[_Piece], gutter: float) -> bool:
    """Whether the two sides share at least half of the shorter one's height."""
    extents = []
    for side in (
        [piece for piece in pieces if piece.right <= gutter],
        [piece for piece in pieces if piece.left >= gutter],
    ):
        extents.append((min(piece.top for piece in side), max(piece.bottom for piece in side)))
    (top, bottom), (other_top, other_bottom) = extents
    shared = min(bottom, other_bottom) - max(top, other_top)
    return shared * 2 >= min(bottom - top, other_bottom - other_top)


def _lines(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Pieces on one height become one line."""
    return [_line(row) for row in _rows(pieces)]


def _phrases(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Pieces on one height and a word space apart become one."""
    phrases: list[list[_Piece]] = []
    for row in _rows(pieces):
        for position, piece in enumerate(row):
            if not position or piece.left - row[position - 1].right > 0.5 * piece.size:
                phrases.append([])
            phrases[-1].append(piece)
    return [_line(phrase) for phrase in phrases]


def _rows(pieces: Sequence[_Piece]) -> list[list[_Piece]]:
    """Pieces grouped by height, top to bottom, and in each row left to right."""
    rows: list[list[_Piece]] = []
    for piece in sorted(pieces, key=lambda piece: piece.middle):
        last = rows[-1][-1] if rows else None
        if (
            last is None
            or last.table
            or piece.table
            or piece.middle - last.middle > 0.5 * min(piece.size, last.size)
        ):
            rows.append([])
        rows[-1].append(piece)
    return [sorted(row, key=lambda piece: piece.left) for row in rows]


def _line(row: Sequence[_Piece]) -> _Piece:
    main = max(row, key=lambda piece: len(piece.text))
    if main.table:
        return main
    return _Piece(
        left=row[0].left,
        top=min(piece.top for piece in row),
        right=max(piece.right for piece in row),
        bottom=max(piece.bottom for piece in row),
        text=" ".join(piece.text for piece in row),
        font=main.font,
        size=main.size,
        emphasis=all(piece.emphasis for piece in row),
    )


def _blocks(lines: Sequence[_Piece], body: tuple[str, float], height: float) -> Iterator[PdfBlock]:
    pitch = median([lower.middle - upper.middle for upper, lower in pairwise(lines)] or [0.0])
    position = 0
    while position < len(lines):
        first = lines[position]
        top = first.top / height
        if first.table:
            yield PdfBlock("table", rows=table_rows(first.table), top=top)
            position += 1
        elif count := _heading_lines(lines, position, body):
            text = _joined(lines[position : position + count])
            yield PdfBlock("heading", text, size=first.size, top=top)
            position += count
        else:
            end = position + 1
            while end < len(lines) and not (
                _begins_block(lines[end - 1], lines[end], pitch) or _heading_lines(lines, end, body)
            ):
                end += 1
            text = _joined(lines[position:end])
            yield PdfBlock("item" if _BULLET.match(text) else "text", text, top=top)
            position = end


def _joined(lines: Sequence[_Piece]) -> str:
    text = ""
    for line in lines:
        text = join_lines(text, line.text)
    return text


def _begins_block(upper: _Piece, lower: _Piece, pitch: float) -> bool:
    """Whether ``lower`` starts a new paragraph, list item or table."""
    return bool(
        lower.table
        or lower.middle - upper.middle > 1.4 * pitch
        or abs(lower.size - upper.size) > 0.15 * upper.size
        or (lower.left - upper.left > 0.6 * lower.size and not _BULLET.match(upper.text))
        or _BULLET.match(lower.text)
    )


def _heading_lines(lines: Sequence[_Piece], position: int, body: tuple[str, float]) -> int:
    """How many lines from ``position`` on form a heading; 0 when none does.

    A heading is set larger than the body, or in bold or italics right above a line of the body.
    """
    first = lines[position]
    end = position + 1
    while end < len(lines) and _same_style(first, lines[end]):
        end += 1
    text = _joined(lines[position:end])
    if (
        first.table
        or end - position > _MAX_HEADING_LINES
        or len(text) > _MAX_HEADING_CHARS
        or not any(character.isalpha() for character in text)
        or text[0].islower()
        or text.endswith((".", ",", ";", ":", "。"))
        or _CAPTION.match(text)
    ):
        return 0
    font, size = body
    below = lines[end] if end < len(lines) else None
    larger = first.size >= _LARGER * size
    emphasised = first.emphasis and first.font != font and first.size >= 0.95 * size
    above_body = below is not None and below.font == font
    return end - position if larger or (emphasised and above_body) else 0


def _same_style(first: _Piece, other: _Piece) -> bool:
    return not other.table and other.font == first.font and abs(other.size - first.size) < 0.3
