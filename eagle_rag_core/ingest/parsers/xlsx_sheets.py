"""Reads the visible sheets of a workbook row by row, merged cells filled."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from eagle_rag_core.ingest.parsers.failures import parse_failed
from eagle_rag_core.ingest.parsers.grid import GridRow
from eagle_rag_core.ingest.parsers.normalise import one_line
from eagle_rag_core.ingest.parsers.xlsx_display import display

logger = logging.getLogger(__name__)

#: About a minute of reading; larger tables belong in a database.
MAX_CELLS: Final = 2_000_000
#: Rows of a sheet (Excel's specifications); a file may claim any number.
_MAX_ROWS = 1_048_576
#: Cells looked at, empty ones and merged ranges included.
_MAX_VISITS = 20_000_000
#: What a merged range costs in a row, in cells. Ranges never overlap but in files made to harm.
_MERGE_COST = 10
#: Columns over which one merged cell is repeated.
_MAX_SPAN = 64
_MERGED = re.compile(
    rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})\""
)
_WITHOUT_VALUE = re.compile(rb"(?:</f>|<f\s[^>]*/>)(?:<v\s*/>|<v></v>)?</c>")


@dataclass(slots=True)
class _Merge:
    top: int
    left: int
    bottom: int
    right: int
    text: str = ""


@dataclass(slots=True)
class SheetReader:
    """Reads sheets within the limits for a whole workbook.

    :param name: of the source, for messages.
    """

    name: str
    formulas_without_values: int = 0
    _cells: int = 0
    _visits: int = 0

    def rows(self, sheet: Any) -> Iterator[GridRow]:
        """The rows of a read-only worksheet; consecutive ones without cells are one.

        :raises IngestError: the workbook has more cells than are read.
        """
        source = _source(sheet)
        self.formulas_without_values += len(_WITHOUT_VALUE.findall(source))
        pending = _merges(source)
        del source
        open_merges: list[_Merge] = []
        sheet.reset_dimensions()
        blank = False
        for number, cells in enumerate(sheet.iter_rows(), start=1):
            self._count(number, len(cells) + _MERGE_COST * len(open_merges))
            if not cells and blank:
                continue
            blank = not cells
            texts = [
                one_line(display(c.value, _format(c))) if c.value is not None else "" for c in cells
            ]
            self._cells += sum(1 for text in texts if text)
            while pending and pending[-1].top <= number:
                open_merges.append(pending.pop())
            open_merges = [merge for merge in open_merges if merge.bottom >= number]
            spanned = _fill(texts, open_merges, number)
            yield GridRow(texts, spanned)

    def _count(self, rows: int, cells: int) -> None:
        self._visits += cells
        if rows > _MAX_ROWS or self._cells > MAX_CELLS or self._visits > _MAX_VISITS:
            raise parse_failed(
                self.name,
                f"has more than {MAX_CELLS:,} cells, or rows and columns beyond any sheet; "
                "export the part that is needed.",
            )


def _format(cell: Any) -> str:
    try:
        return cell.number_format or "General"
    except (IndexError, KeyError, AttributeError):
        return "General"  # a style the workbook does not define


def _source(sheet: Any) -> bytes:
    """The XML of a sheet; what merges cells stands behind its rows, where no reader looks."""
    source: bytes = sheet.parent._archive.read(sheet._worksheet_path)
    return source


def _merges(source: bytes) -> list[_Merge]:
    """Merged ranges, the topmost last."""
    found = [
        _Merge(int(top), _column(left), int(bottom), _column(right))
        for left, top, right, bottom in _MERGED.findall(source)
    ]
    return sorted(found, key=lambda merge: (-merge.top, -merge.left))


def _column(letters: bytes) -> int:
    """Zero-based."""
    column = 0
    for letter in letters:
        column = column * 26 + letter - ord("A") + 1
    return column - 1


def _fill(texts: list[str], merges: Sequence[_Merge], row: int) -> bool:
    """Repeat what merged cells show in each of their columns and in rows with other content.

    :returns: whether a cell spans columns of this row.
    """
    spanned = False
    has_content = any(texts)
    for merge in merges:
        if row == merge.top:
            merge.text = texts[merge.left] if merge.left < len(texts) else ""
        if not merge.text or not has_content:
            continue
        right = min(merge.right, merge.left + _MAX_SPAN)
        texts.extend([""] * (right + 1 - len(texts)))
        texts[merge.left : right + 1] = [merge.text] * (right + 1 - merge.left)
        spanned = spanned or right > merge.left
    return spanned
