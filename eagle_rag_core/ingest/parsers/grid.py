"""Writes the rows of a sheet: what stands above a table, the table, and the names of its columns.

Sheets do not say where their tables are. A row without content ends a table; rows of one cell
above it are its caption; the first row of words names the columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from eagle_rag_core.ingest.chunking import text_weight
from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.normalise import one_line
from eagle_rag_core.ingest.parsers.tables import STRETCH

#: Longer ones are read as records, each value with the name of its column.
_MAX_ROW: Final = STRETCH * 2 // 3
_MAX_HEADER: Final = STRETCH // 3
#: Numbers, amounts, shares, dates, times, and what stands for a missing one.
_VALUE = re.compile(
    r"[^\w]{0,4}\d[\d\s.,:/T%()+\-]*(?:[eE][+\-]?\d+)?\s?(?:[A-Z]{3}|[%€$£¥Z)])?|true|false|-+|#\S+",
    re.I,
)
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class GridRow:
    """One row of display texts; "" for empty cells.

    :param spanned: a cell of the row spans columns, as the upper names of a two-line header do.
    """

    cells: Sequence[str]
    spanned: bool = False

    @property
    def filled(self) -> int:
        return sum(1 for cell in self.cells if cell)


class GridWriter:
    """Writes the tables of one sheet after the other into a document.

    A table without names of its own, as a row without content leaves behind, takes those of the
    table above it when it stands in the same columns; else columns go by their letters.
    """

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._names: Sequence[str] = ()
        self._columns: Sequence[int] = ()
        #: Rows written, headers and captions not counted.
        self.rows = 0

    def write(self, rows: Iterable[GridRow]) -> None:
        """Write the rows of a sheet, from top to bottom."""
        self._columns = ()
        for filled, table in groupby(rows, key=lambda row: row.filled > 0):
            if filled:
                self._table(list(table))

    def _table(self, rows: list[GridRow]) -> None:
        start = 0
        while start < len(rows) and _is_caption(rows[start]):
            self._builder.block("\n".join(_distinct(rows[start].cells)))
            start += 1
        rows = rows[start:]
        if not rows:
            return
        columns = _used_columns(rows)
        names, body = self._named(rows, columns)
        cells = [[row.cells[c] if c < len(row.cells) else "" for c in columns] for row in body]
        if not cells:  # a row of words with nothing below it
            self._builder.block(" | ".join(name for name in names if name))
            return
        self.rows += len(cells)
        if _fits_table(names, cells):
            self._builder.table([names, *cells])
        else:
            for row in cells:
                self._builder.block("\n".join(_record(names, row)))

    def _named(
        self, rows: list[GridRow], columns: Sequence[int]
    ) -> tuple[list[str], list[GridRow]]:
        """The names of the columns in use, and the rows below them."""
        if _names_columns(rows[0]):
            names = list(rows[0].cells)
            count = 1
            if rows[0].spanned and len(rows) > 2 and _names_columns(rows[1]):
                names = _joined(names, rows[1].cells)
                count = 2
            self._names, self._columns = _at(names, columns), columns
            return [*self._names], rows[count:]
        if columns == self._columns:
            return [*self._names], rows
        return [column_letters(column) for column in columns], rows


def column_letters(column: int) -> str:
    """How spreadsheet programs call a column: A for 0, Z for 25, AA for 26."""
    letters = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


def _is_caption(row: GridRow) -> bool:
    """One text, in one cell or in one that spans the table."""
    return row.filled == 1 or (row.spanned and len(_distinct(row.cells)) == 1)


def _distinct(cells: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(cell for cell in cells if cell))


def _used_columns(rows: Sequence[GridRow]) -> list[int]:
    used: set[int] = set()
    for row in rows:
        used.update(column for column, cell in enumerate(row.cells) if cell)
    return sorted(used)


def _names_columns(row: GridRow) -> bool:
    cells = [cell for cell in row.cells if cell]
    named = sum(1 for cell in cells if not _VALUE.fullmatch(cell))
    return named > 0 and all(not _VALUE.fullmatch(cell) or _YEAR.fullmatch(cell) for cell in cells)


def _joined(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    width = max(len(upper), len(lower))
    pairs = zip(_filled_up(upper, width), _filled_up(lower, width), strict=True)
    return [above if above == below else f"{above} {below}".strip() for above, below in pairs]


def _at(cells: Sequence[str], columns: Sequence[int]) -> list[str]:
    return [cells[column] if column < len(cells) else "" for column in columns]


def _filled_up(cells: Sequence[str], width: int) -> list[str]:
    return [*cells, *[""] * (width - len(cells))]


def _fits_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether every row fits a passage together with the names of the columns."""
    return _line_weight(names) <= _MAX_HEADER and all(_line_weight(row) <= _MAX_ROW for row in rows)


def _line_weight(cells: Sequence[str]) -> float:
    line = " | ".join(cells)
    return text_weight(line, 0, len(line))


def _record(names: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    for name, cell in zip(names, row, strict=True):
        if cell:
            yield f"{one_line(name)}: {cell}" if name else cell
