"""Walks the body of a Word document: paragraphs, tables and text boxes in reading order.

python-docx shows neither inserted text under revision, nor content controls, nor text boxes;
so the walk goes over the XML.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eagle_rag_core.ingest.parsers.docx_styles import W

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
PARAGRAPH, TABLE = f"{W}p", f"{W}tbl"
_TEXT_BOX = f"{W}txbxContent"
#: Deleted text, field codes, properties, and the copy of a drawing for old programs.
_UNSEEN = frozenset(
    {f"{W}del", f"{W}moveFrom", f"{W}instrText", f"{W}delText", f"{W}rPr", f"{W}pPr"}
    | {f"{_MC}Fallback", _TEXT_BOX}
)
_CHARACTERS = {f"{W}tab": "\t", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}


def body_blocks(container: Any) -> Iterator[Any]:
    """Paragraph and table elements, looked up inside content controls and revisions too."""
    for child in container:
        if child.tag in (PARAGRAPH, TABLE):
            yield child
        elif child.tag not in _UNSEEN:
            yield from body_blocks(child)


def paragraph_text(element: Any) -> str:
    """The visible text of a paragraph, without that of its text boxes."""
    return "".join(_texts(element)).strip()


def text_boxes(paragraph: Any) -> Iterator[Any]:
    """The text boxes anchored in a paragraph."""
    for box in paragraph.iter(_TEXT_BOX):
        if not any(parent.tag == f"{_MC}Fallback" for parent in box.iterancestors()):
            yield box


def table_rows(table: Any) -> list[list[Any]]:
    """The cells of a table by rows; ``None`` where a merged cell goes on."""
    return [_row_cells(row) for row in _inside(table, f"{W}tr")]


def cell_text(cell: Any) -> str:
    """All text of a cell on one line, that of nested tables included."""
    if cell is None:
        return ""
    texts = (paragraph_text(paragraph) for paragraph in cell.iter(PARAGRAPH))
    return " ".join(text for text in texts if text)


def _row_cells(row: Any) -> list[Any]:
    cells: list[Any] = []
    for cell in _inside(row, f"{W}tc"):
        properties = cell.find(f"{W}tcPr")
        merge = properties.find(f"{W}vMerge") if properties is not None else None
        goes_on = merge is not None and merge.get(f"{W}val") != "restart"
        span = properties.find(f"{W}gridSpan") if properties is not None else None
        width = span.get(f"{W}val", "1") if span is not None else "1"
        cells.append(None if goes_on else cell)
        cells += [None] * (min(int(width), 64) - 1 if width.isdecimal() else 0)
    return cells


def _inside(parent: Any, tag: str) -> Iterator[Any]:
    """Children with a tag, looked up inside content controls and revisions too."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}customXml"):
            yield from _inside(child, tag)


def _texts(element: Any) -> Iterator[str]:
    for child in element:
        tag = child.tag
        if tag in (f"{W}t", f"{_MATH}t"):
            yield child.text or ""
        elif tag == f"{W}br":
            yield "\n" if child.get(f"{W}type", "textWrapping") == "textWrapping" else ""
        elif tag in _CHARACTERS:
            yield _CHARACTERS[tag]
        elif tag not in _UNSEEN:
            yield from _texts(child)
