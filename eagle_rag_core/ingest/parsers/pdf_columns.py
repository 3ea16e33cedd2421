"""Finds the columns of a page from the positions of its text.

The page is cut at the vertical gutter that parts the most text while crossing next to none, then
each side again. What crosses a gutter (a title, a wide figure) parts the page into bands, which
are read one after the other.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from liteparse.types import LayoutBlock, ParsedPage, TextItem

_BOLD = re.compile(r"bold|black|heavy|demi|medium|cmbx", re.I)
_ITALIC = re.compile(r"ital|obliq|cmti", re.I)
_BOLD_WEIGHT = 540
#: A heading's font is at least this much larger than the body's.
LARGER = 1.07
#: Two pieces closer than this share of the font size are words of one phrase.
_WORD_SPACE = 0.5
_MIN_PIECES = 8
#: Least mean length of the lines on either side of a gutter between columns of prose.
_MIN_LINE_CHARS = 18


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text on one line, or a whole table. Coordinates in points from the top left.

    :param emphasis: set in bold or italics.
    """

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


@dataclass(frozen=True, slots=True)
class Font:
    """The font most characters of a page are set in."""

    name: str
    size: float


def body_font(items: Sequence[TextItem]) -> Font:
    """The body font of a page; size 0 on a page without text."""
    characters: Counter[Font] = Counter()
    for item in items:
        characters[Font(item.font_name or "", font_size(item))] += len(item.text)
    return max(characters, key=characters.__getitem__, default=Font("", 0.0))


def font_size(item: TextItem) -> float:
    """Size in points; the plain ``font_size`` does not know the scale of the page."""
    return item.font_height or item.height


def columns_of(page: ParsedPage) -> Iterator[list[Piece]]:
    """The text of a page by columns, in reading order; each column from top to bottom.

    Tables with a header row are kept whole. Text that does not run from left to right (a stamp
    in the margin) comes last.
    """
    turned = [_text_piece(item) for item in page.text_items if _is_turned(item)]
    yield from columns_among(_pieces(page), body_font(page.text_items).size)
    if turned:
        yield turned


def is_in_columns(page: ParsedPage) -> bool:
    """Whether prose stands side by side: a gutter with long lines to both sides of it."""
    pieces = [piece for piece in _pieces(page) if not piece.table]
    gutter = _gutter(pieces)
    if gutter is None:
        return False
    return all(
        sum(len(piece.text) for piece in side) >= _MIN_LINE_CHARS * len(side)
        for side in _sides(pieces, gutter)
    )


def rows_of(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces grouped by height, top to bottom, and in each row left to right."""
    rows: list[list[Piece]] = []
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


def joined(row: Sequence[Piece]) -> Piece:
    """One piece for the neighbours of a row; its font is that of the longest."""
    main = max(row, key=lambda piece: len(piece.text))
    if main.table:
        return main
    return Piece(
        left=row[0].left,
        top=min(piece.top for piece in row),
        right=max(piece.right for piece in row),
        bottom=max(piece.bottom for piece in row),
        text=" ".join(piece.text for piece in row),
        font=main.font,
        size=main.size,
        emphasis=all(piece.emphasis for piece in row),
    )


def _pieces(page: ParsedPage) -> list[Piece]:
    """Phrases and tables of a page."""
    tables = [
        Piece(box.x, box.y, box.x + box.width, box.y + box.height, table=block)
        for block in page.blocks or ()
        if block.kind == "table" and block.header and (box := block.bbox)
    ]
    texts = [
        _text_piece(item)
        for item in page.text_items
        if item.text.strip()
        and not _is_turned(item)
        and not any(_inside(item, table) for table in tables)
    ]
    return tables + phrases_among(texts)


def phrases_among(pieces: Sequence[Piece]) -> list[Piece]:
    """Neighbours on a line joined, where no more than a word space parts them."""
    phrases: list[list[Piece]] = []
    for row in rows_of(pieces):
        for position, piece in enumerate(row):
            if not position or piece.left - row[position - 1].right > _WORD_SPACE * piece.size:
                phrases.append([])
            phrases[-1].append(piece)
    return [joined(phrase) for phrase in phrases]


def _text_piece(item: TextItem) -> Piece:
    font = item.font_name or ""
    return Piece(
        left=item.x,
        top=item.y,
        right=item.x + item.width,
        bottom=item.y + item.height,
        text=item.text.strip(),
        font=font,
        size=font_size(item),
        emphasis=(item.font_weight or 0) >= _BOLD_WEIGHT
        or bool(_BOLD.search(font) or _ITALIC.search(font)),
    )


def _is_turned(item: TextItem) -> bool:
    return 5 < item.rotation % 360 < 355


def _inside(item: TextItem, box: Piece) -> bool:
    x, y = item.x + item.width / 2, item.y + item.height / 2
    return box.left <= x <= box.right and box.top <= y <= box.bottom


def columns_among(pieces: Sequence[Piece], body_size: float) -> Iterator[list[Piece]]:
    """The pieces by columns, in reading order; each column from top to bottom.

    :param body_size: size of the body font; what is larger may stand above several columns.
    """
    gutter = _gutter(pieces)
    if gutter is None:
        if pieces:
            yield list(pieces)
        return
    left, right = _sides(pieces, gutter)
    tops = min(piece.top for piece in left), min(piece.top for piece in right)

    def side(piece: Piece) -> int:
        """-1 left, 1 right, 0 across; a title above the other side's text is across."""
        which = -1 if piece.right <= gutter else 1 if piece.left >= gutter else 0
        above = piece.bottom <= (tops[1] if which < 0 else tops[0])
        return 0 if above and piece.size >= LARGER * body_size else which

    by_height = sorted(pieces, key=lambda piece: piece.middle)
    for across, band in groupby(by_height, key=lambda piece: side(piece) == 0):
        members = list(band)
        if across:
            yield members
            continue
        for which in (-1, 1):
            yield from columns_among(
                [piece for piece in members if side(piece) == which], body_size
            )


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """The position that parts the most pieces while crossing next to none.

    ``None`` unless a fifth of the pieces stands on each side, side by side.
    """
    total = len(pieces)
    if total < _MIN_PIECES:
        return None
    rights = sorted(piece.right for piece in pieces)
    lefts = sorted(piece.left for piece in pieces)
    best, best_score = None, 0.0
    for position in range(int(lefts[0]) + 1, int(rights[-1])):
        before = bisect_right(rights, position)
        after = total - bisect_left(lefts, position)
        crossing = total - before - after
        score = min(before, after) - 2.0 * crossing
        if min(before, after) * 5 >= total and crossing * 5 <= total and score > best_score:
            best, best_score = float(position), score
    return best if best is not None and _side_by_side(*_sides(pieces, best)) else None


def _sides(pieces: Sequence[Piece], gutter: float) -> tuple[list[Piece], list[Piece]]:
    return (
        [piece for piece in pieces if piece.right <= gutter],
        [piece for piece in pieces if piece.left >= gutter],
    )


def _side_by_side(left: Sequence[Piece], right: Sequence[Piece]) -> bool:
    """Whether the two sides share at least half of the shorter one's height."""
    (top, bottom), (other_top, other_bottom) = (
        (min(piece.top for piece in side), max(piece.bottom for piece in side))
        for side in (left, right)
    )
    shared = min(bottom, other_bottom) - max(top, other_top)
    return shared * 2 >= min(bottom - top, other_bottom - other_top)
