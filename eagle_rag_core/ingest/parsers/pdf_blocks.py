"""Turns a page as liteparse sees it into blocks of clean text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Literal

from eagle_rag_core.ingest.parsers.normalise import has_words
from eagle_rag_core.ingest.parsers.pdf_columns import LARGER, body_font, font_size

if TYPE_CHECKING:
    from liteparse.types import LayoutBlock, ParsedPage, TextItem

#: Block texts come with Markdown emphasis; a real mark of the page is escaped.
_MARKUP = re.compile(r"\\([^\w\s])|\*+")
_IDEOGRAPH = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_CJK_GAP = re.compile(f"(?<=[{_IDEOGRAPH}]) (?=[{_IDEOGRAPH}])")
_DIVIDED = re.compile(r"[^\W\d_]{2}-\Z")
_UNREADABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]")
_MAX_UNREADABLE = 0.2
_MAX_HEADING_WORDS = 20
_LONG_CELL = 200


@dataclass(frozen=True, slots=True)
class PdfBlock:
    """A block of a page, in reading order.

    :param level: of a heading; 0 for a heading whose level must be found by its size.
    :param size: font size in points, 0 when unknown.
    :param top: distance of the block's upper edge from the page's, as a share of its height.
    """

    kind: Literal["heading", "text", "item", "table"]
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    level: int = 0
    size: float = 0.0
    top: float = 0.5


def read_blocks(page: ParsedPage) -> list[PdfBlock]:
    """The blocks liteparse found on a page, without rules, figures and unreadable text."""
    body = body_font(page.text_items).size
    found = page.blocks or []
    blocks = (
        _convert(block, page, body, runs_on=_runs_on(block, following))
        for block, following in zip_longest(found, found[1:])
    )
    return [block for block in blocks if block is not None]


def has_doubtful_table(page: ParsedPage) -> bool:
    """Whether prose was taken for a table, as happens to text in columns.

    The signs: no header row and either a cell as long as a paragraph or rows in which sentences
    go on from one row to the next.
    """
    return any(
        block.kind == "table" and not block.header and _is_prose(block)
        for block in page.blocks or ()
    )


def is_unreadable(text: str) -> bool:
    """Whether a font without character mapping turned the text into noise."""
    visible = "".join(text.split())
    return bool(visible) and len(_UNREADABLE.findall(visible)) > len(visible) * _MAX_UNREADABLE


def join_lines(first: str, second: str) -> str:
    """Join two lines of a paragraph; words divided at the line end are put together again."""
    if not first or not second:
        return first or second
    if _DIVIDED.search(first, max(0, len(first) - 3)) and second[0].islower():
        return first[:-1] + second
    space = "" if _CJK_GAP.search(f"{first[-1]} {second[0]}") else " "
    return f"{first}{space}{second}"


def close_cjk_gaps(text: str) -> str:
    """Remove the spaces line ends leave between Chinese or Japanese characters."""
    return _CJK_GAP.sub("", text)


def table_rows(block: LayoutBlock) -> tuple[tuple[str, ...], ...]:
    """A table block's rows; its header, if it has one, is the first."""
    rows = [block.header or [], *(block.rows or [])]
    return tuple(tuple(cell.text for cell in row) for row in rows if row)


def _convert(
    block: LayoutBlock, page: ParsedPage, body: float, *, runs_on: bool
) -> PdfBlock | None:
    top = block.bbox.y / page.height if block.bbox and page.height else 0.5
    if block.kind == "table":
        return PdfBlock("table", rows=table_rows(block), top=top)
    if block.kind in ("code", "grid_fallback"):
        lines = "\n".join(block.lines or ())
        return None if is_unreadable(lines) else PdfBlock("text", lines, top=top)
    text = block.text or ""
    if not has_words(text) or is_unreadable(text):
        return None
    size = _size(block, page) if block.kind == "heading" else 0.0
    # Bold labels inside figures are smaller than the body.
    least = LARGER if runs_on else 0.9
    if block.kind == "heading" and _is_title(text) and size >= least * body:
        return PdfBlock("heading", text, level=block.level or 1, size=size, top=top)
    text = _MARKUP.sub(r"\1", text)
    if _CJK_GAP.search(text) and _lines(block, page) > 1:
        text = close_cjk_gaps(text)
    if block.kind == "list_item":
        indent = "  " * (block.level or 0)
        marker = block.marker if block.marker and block.marker.isascii() else "-"
        return PdfBlock("item", f"{indent}{marker} {text}", top=top)
    return PdfBlock("text", text, top=top) if block.kind in ("paragraph", "heading") else None


def _is_title(text: str) -> bool:
    return len(text.split()) <= _MAX_HEADING_WORDS and not text.endswith((";", ","))


def _runs_on(block: LayoutBlock, following: LayoutBlock | None) -> bool:
    """Whether a block is the full first line of the paragraph below it, which begins in bold."""
    if following is None or following.kind != "paragraph":
        return False
    box, next_box = block.bbox, following.bbox
    if box is None or next_box is None:
        return False
    gap = next_box.y - (box.y + box.height)
    return (
        abs(box.x - next_box.x) < 0.5 * box.height
        and box.width >= 0.85 * next_box.width
        and gap < 0.6 * box.height
    )


def _is_prose(block: LayoutBlock) -> bool:
    rows = [[cell.text for cell in row if cell.text] for row in block.rows or ()]
    if any(len(cell) > _LONG_CELL for row in rows for cell in row):
        return True
    lines = [" ".join(row) for row in rows if row]
    running = sum(
        upper[-1] not in ".:;!?" and lower[0].islower() for upper, lower in pairwise(lines)
    )
    return len(lines) > 2 and running * 3 >= len(lines) and _words(lines) > 6


def _words(lines: Sequence[str]) -> float:
    """Mean number of words in a line."""
    return sum(len(line.split()) for line in lines) / len(lines)


def _size(block: LayoutBlock, page: ParsedPage) -> float:
    return max((font_size(item) for item in _items(block, page)), default=0.0)


def _lines(block: LayoutBlock, page: ParsedPage) -> int:
    """Rough number of lines the block runs over."""
    height = max((item.height for item in _items(block, page)), default=0.0)
    return round(block.bbox.height / height) if block.bbox and height else 1


def _items(block: LayoutBlock, page: ParsedPage) -> list[TextItem]:
    box = block.bbox
    if box is None:
        return []
    return [
        item
        for item in page.text_items
        if box.x - 1 <= item.x + item.width / 2 <= box.x + box.width + 1
        and box.y - 1 <= item.y + item.height / 2 <= box.y + box.height + 1
    ]
